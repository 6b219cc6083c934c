"""The role k3s as a whole, by the real Ansible and the stand-in, in namespaces of this machine."""

from pathlib import Path

import k3s_site
import pytest
import yaml
from k3s_machine import Machine, reason_against
from k3s_site import HOST, PLAYBOOK, TOKEN, VERSION, workstation

from rackwright.guests.stand_ins.k3s import release

ROOT = Path(__file__).resolve().parents[2]
UPGRADE = [
    {
        "hosts": "k3s_server",
        "gather_facts": False,
        "vars_files": [str(ROOT / "playbooks/vars/k3s.yml")],
        "tasks": [{"name": "Go on", "ansible.builtin.include_role": {"name": "k3s", "tasks_from": "upgrade"}}],
    }
]
RESET = [
    {
        "hosts": "k3s_server",
        "gather_facts": False,
        "vars": {"k3s_kind": "server", "k3s_reset_node": HOST},
        "tasks": [{"name": "Take it off", "ansible.builtin.include_role": {"name": "k3s", "tasks_from": "reset"}}],
    }
]
AGAINST = reason_against()
pytestmark = pytest.mark.skipif(bool(AGAINST), reason=AGAINST)


def told(site, **changed):
    """The configuration of the site, without what only a server with GPUs and a kernel of its own has."""
    return k3s_site.told(site) | {"default-runtime": "runc", "protect-kernel-defaults": False} | changed


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return workstation(tmp_path_factory.mktemp("workstation"))


@pytest.fixture(scope="module")
def machine(site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("machine")
    (folder / "release").mkdir()
    release(folder / "release", VERSION)
    pid_max = Path("/proc/sys/kernel/pid_max").read_text().strip()
    given = {
        "k3s_binary_source": str(folder / "release"),
        "k3s_sha256": "",
        "k3s_token": TOKEN,
        "k3s_configuration": told(site),
        "k3s_sysctls": {"kernel.pid_max": pid_max},  # this machine's kernel stays as it is
    }
    machine = Machine(folder, site, given)
    yield machine
    machine.end()


@pytest.fixture(scope="module")
def converged(machine):
    machine.play(PLAYBOOK, "--check", "--diff").demand()
    assert machine.says("ls /var/lib; ls -d /etc/rancher 2>/dev/null | cat") == ""
    return machine.play(PLAYBOOK).demand()


def test_it_is_ready_and_the_second_run_and_a_dry_one_change_nothing(machine, converged, site):
    assert converged.changed[HOST]
    assert VERSION in machine.says("/usr/local/bin/k3s kubectl get nodes")
    assert machine.play(PLAYBOOK).demand().changed == {}
    assert machine.play(PLAYBOOK, "--check", "--diff").demand().changed == {}
    kubeconfig = site / "kube" / "config"
    assert kubeconfig.stat().st_mode & 0o777 == 0o600
    assert "https://192.168.40.20:6443" in kubeconfig.read_text()
    modes = machine.says("cd /etc/rancher/k3s && stat -c %a config.yaml token registries.yaml admission.yaml k3s.yaml")
    assert set(modes.split()) == {"600"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k3s_version": "v1.37.2+k3s1"}, "playbooks/upgrade.yml"),
        ({"k3s_token": "f" * 32}, "encrypted with another token"),
        ({"k3s_sha256": "0" * 64}, "is not the program of"),
    ],
)
def test_what_would_harm_the_cluster_is_refused(machine, converged, given, said):
    assert converged.succeeded
    ran = machine.play(PLAYBOOK, **given)
    assert ran.code
    assert said in " ".join(ran.said.split())
    assert ran.changed == {}


def test_an_unknown_key_ends_with_k3ss_words_and_the_next_run_repairs_it(machine, converged, site):
    assert converged.succeeded
    ran = machine.play(PLAYBOOK, k3s_configuration=told(site, bogus="1"))
    assert ran.code
    assert "flag provided but not defined: -bogus" in ran.said
    assert "k3s : Run" in machine.play(PLAYBOOK).demand().changed[HOST]
    assert machine.says("systemctl is-active k3s.service") == "active"


def test_a_run_that_was_stopped_before_the_restart_is_taken_up(machine, converged):
    assert converged.succeeded
    machine.says("touch -d '+2 seconds' /etc/rancher/k3s/config.yaml")
    assert machine.play(PLAYBOOK).demand().changed == {HOST: ["k3s : Run"]}


def test_another_clusters_kubeconfig_is_left_alone(machine, converged, site):
    assert converged.succeeded
    file = site / "kube" / "config"
    ours = file.read_text()
    file.write_text(ours.replace("workstation-phase1", "work"))
    ran = machine.play(PLAYBOOK)
    assert ran.code
    assert "opens another cluster (work)" in " ".join(ran.said.split())
    assert "work" in file.read_text()
    file.write_text(ours)


class TestNewer:
    """The last things done to the machine: a newer release, then none."""

    NEWER = VERSION.replace("+k3s1", "+k3s9")

    def test_an_upgrade_takes_a_snapshot_and_keeps_the_way_back(self, machine, converged, tmp_path):
        assert converged.succeeded
        (tmp_path / "release").mkdir()
        release(tmp_path / "release", self.NEWER)
        playbook = tmp_path / "upgrade.yml"
        playbook.write_text(yaml.safe_dump(UPGRADE))
        given = {"k3s_version": self.NEWER, "k3s_binary_source": str(tmp_path / "release")}
        ran = machine.play(playbook, **given).demand()
        assert "k3s : Take a snapshot" in ran.changed.get(HOST, ()), ran.said
        assert self.NEWER in machine.says("/usr/local/bin/k3s kubectl get nodes")
        assert VERSION in machine.says(f"/usr/local/bin/k3s-{VERSION} --version")
        assert "before-" in machine.says("/usr/local/bin/k3s etcd-snapshot ls")
        assert machine.play(playbook, **given).demand().changed == {}
        back = machine.play(playbook)
        assert back.code
        assert "does not go back" in " ".join(back.said.split())

    def test_a_reset_wants_the_name_and_keeps_the_state_aside(self, machine, converged, tmp_path):
        assert converged.succeeded
        playbook = tmp_path / "reset.yml"
        playbook.write_text(yaml.safe_dump(RESET))
        assert machine.play(playbook, k3s_reset_confirmed="ws-02").code
        assert machine.says("systemctl is-active k3s.service") == "active"
        machine.play(playbook, "--check", k3s_reset_confirmed=HOST).demand()
        assert machine.says("systemctl is-active k3s.service") == "active"
        machine.play(playbook, k3s_reset_confirmed=HOST).demand()
        assert machine.says("ls /etc/rancher/k3s /var/lib/rancher/k3s /usr/local/bin/k3s* 2>/dev/null | cat") == ""
        kept = machine.says("ls /var/backups/rackwright-k3s /var/backups/rackwright-k3s/snapshots")
        assert "token" in kept
        assert "before-reset" in kept
        assert machine.play(playbook, k3s_reset_confirmed=HOST).demand().changed == {}
