"""k3s on a booted server: from nothing to Ready, nothing the second time, and what it refuses."""

import json

import pytest
import yaml
from k3s_site import HOST, PLAYBOOK, TOKEN, VERSION, told, workstation

from rackwright.guests.stand_ins.k3s import release

pytestmark = pytest.mark.one_role

# What provisioning leaves, as far as k3s asks for it: a port of the site's name, and NVIDIA's runtime.
PROVISIONED = """\
printf '[NetDev]\\nName=lan0\\nKind=dummy\\n' >/etc/systemd/network/90-lan0.netdev
networkctl reload
until [ -e /sys/class/net/lan0 ]; do sleep 1; done
printf '#!/bin/sh\\n' >/usr/bin/nvidia-container-runtime
chmod 755 /usr/bin/nvidia-container-runtime
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The workstation, with its kubeconfig in a folder of the test's."""
    return workstation(tmp_path_factory.mktemp("workstation"))


@pytest.fixture(scope="module")
def machines(rack, site):
    return rack(site, HOST)


@pytest.fixture(scope="module")
def guest(machines):
    return machines[HOST]


@pytest.fixture(scope="module")
def run(machines, tmp_path_factory):
    """Runs k3s.yml on the guest, with the stand-in's release in a folder."""
    folder = tmp_path_factory.mktemp("release")
    release(folder, VERSION)
    given = {"k3s_binary_source": str(folder), "k3s_sha256": "", "k3s_token": TOKEN}
    return lambda *options, **others: machines.ansible(PLAYBOOK, *options, variables=given | others)


def test_a_dry_run_on_an_empty_machine_comes_to_its_end(run, guest):
    ran = run("--check", "--diff").demand()
    assert ran.changed[HOST]
    assert guest.says("ls /usr/local/bin") == ""


def test_a_machine_that_is_not_provisioned_is_refused_and_nothing_is_changed(run, guest):
    ran = run()
    assert ran.code
    assert "Run playbooks/provision.yml first" in " ".join(ran.said.split())
    assert HOST not in ran.changed
    assert guest.says("ls /usr/local/bin") == ""


class TestNode:
    @pytest.fixture(scope="class", autouse=True)
    def first(self, run, guest):
        guest.ssh("sh -e", text=PROVISIONED)
        return run().demand()

    def test_it_is_ready_and_opened_to_the_operator(self, site, guest):
        node = json.loads(guest.says(f"k3s kubectl get node {HOST} --output=json"))
        assert node["status"]["nodeInfo"]["kubeletVersion"] == VERSION
        kubeconfig = site / "kube" / "config"
        assert kubeconfig.stat().st_mode & 0o777 == 0o600
        assert (
            yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"] == "https://192.168.40.20:6443"
        )

    def test_secrets_are_nobodys_but_roots(self, guest):
        names = "config.yaml token registries.yaml admission.yaml audit-policy.yaml k3s.yaml"
        modes = guest.says(f"cd /etc/rancher/k3s && stat -c %a:%U {names}").split()
        assert set(modes) == {"600:root"}
        assert TOKEN not in guest.says("cat /etc/rancher/k3s/config.yaml; systemctl cat k3s; ps -ef")

    def test_a_second_run_changes_nothing_and_a_dry_one_neither(self, run):
        assert run().demand().changed == {}
        assert run("--check", "--diff").demand().changed == {}

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"k3s_version": "v1.37.2+k3s1"}, "playbooks/upgrade.yml"),
            ({"k3s_token": "f" * 32}, "encrypted with another token"),
            ({"k3s_sha256": "0" * 64}, "is not the program of"),
        ],
    )
    def test_what_would_harm_the_cluster_is_refused(self, run, given, said):
        ran = run(**given)
        assert ran.code
        assert said in " ".join(ran.said.split())
        assert HOST not in ran.changed

    def test_a_key_that_k3s_does_not_know_ends_with_its_words_and_the_next_run_repairs_it(self, run, site, guest):
        ran = run(k3s_configuration=told(site) | {"bogus": "1"})
        assert ran.code
        assert "flag provided but not defined: -bogus" in ran.said
        run().demand()
        assert guest.says("systemctl is-active k3s") == "active"

    def test_a_run_that_was_stopped_before_the_restart_is_taken_up(self, run, guest):
        guest.ssh("touch /etc/rancher/k3s/config.yaml")
        ran = run().demand()
        assert ran.changed == {HOST: ["k3s : Run"]}

    def test_after_a_reboot_all_is_as_it_was(self, guest):
        token = guest.says("cat /var/lib/rancher/k3s/server/token")
        guest.reboot()
        guest.says("until systemctl is-active k3s; do systemctl is-failed k3s && exit 1; sleep 1; done")
        assert guest.says("cat /var/lib/rancher/k3s/server/token") == token
        assert guest.says("sysctl --values vm.overcommit_memory kernel.panic").split() == ["1", "10"]
