"""A host of phase 2 on a booted server: everything before kubeadm begins, nothing the second time, held, and shut."""

from pathlib import Path

import pytest
import yaml
from phase2_packages import stand_ins

from rackwright.guests.stand_ins.deb import write_repository
from rackwright.sandbox import tools
from rackwright.site.catalog import Catalog

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "tests/fixtures/valid/small_rack.yml"
HOST, PART, PLAYBOOK = "control-01", Path(__file__).with_name("phase2_node.yml"), "playbooks/kubernetes.yml"
PLACE = "/srv/carried"
SOURCE = {"address": f"file:{PLACE}", "suite": "./", "components": [], "key": "", "packages": []}
CARRIED = {"containerd_source": SOURCE, "kubernetes_source": SOURCE}
VERSION = Catalog.load().kubernetes.kubeadm
pytestmark = pytest.mark.usefixtures("made")


@pytest.fixture(scope="module")
def machines(rack, tmp_path_factory):
    """One control host of a small rack, with the packages that were carried to it."""
    folder = tmp_path_factory.mktemp("small")
    text = yaml.safe_load(SITE.read_text())
    text["clusters"]["phase2"]["kubeconfig"] = str(folder / "kube" / "config")
    (folder / "site.yml").write_text(yaml.safe_dump(text, sort_keys=False))
    booted = rack(folder, HOST)
    repository = tmp_path_factory.mktemp("repository")
    kubeadm = tools.ensure(["kubeadm"])["kubeadm"].path
    write_repository(repository, [*stand_ins(kubeadm), *stand_ins(kubeadm, newer=True)], "carried")
    booted[HOST].put(repository, PLACE)
    return booted


@pytest.fixture(scope="module")
def guest(machines):
    return machines[HOST]


@pytest.fixture(scope="module")
def made(machines):
    """The host after its first run, which a dry one went before; the two runs."""
    dry = machines.ansible(PLAYBOOK, "--check", "--diff", variables=CARRIED).demand()
    assert (
        machines[HOST].says("ls /etc/containerd /etc/kubernetes /usr/bin/kubeadm 2>/dev/null || echo nothing")
        == "nothing"
    )
    return dry, machines.ansible(PART, variables=CARRIED).demand()


def test_a_dry_run_on_an_empty_host_says_what_it_would_do(made):
    dry, _ = made
    assert dry.stats[HOST]["changed"] > 3
    assert "SystemdCgroup = true" in dry.said


def test_a_second_run_changes_nothing(machines):
    again = machines.ansible(PART, variables=CARRIED).demand()
    assert again.stats[HOST]["changed"] == 0, again.changed
    dry = machines.ansible(PART, "--check", "--diff", variables=CARRIED).demand()
    assert dry.stats[HOST]["changed"] == 0, dry.changed


def test_packages_are_of_the_catalogs_version_and_held_beside_newer_ones(guest):
    shown = "apt-mark showhold | sort | tr '\\n' ' '"
    assert guest.says(shown).split() == ["containerd.io", "cri-tools", "kubeadm", "kubectl", "kubelet"]
    assert guest.says("dpkg-query --show --showformat='${Version}' kubelet") == f"{VERSION}-1.1"
    guest.ssh("apt-get --quiet --yes upgrade")
    assert guest.says("dpkg-query --show --showformat='${Version}' kubelet") == f"{VERSION}-1.1"


def test_the_kubelet_rests_until_there_is_a_cluster(guest):
    assert guest.says("systemctl is-active kubelet; :") == "inactive"
    assert guest.says("systemctl is-enabled kubelet") == "enabled"
    assert guest.says("systemctl is-active containerd") == "active"


def test_the_kernel_is_as_the_kubelet_wants_it(guest):
    wished = "vm.overcommit_memory kernel.panic net.ipv4.ip_forward net.bridge.bridge-nf-call-iptables"
    assert guest.says(f"sysctl --values {wished} | tr '\\n' ' '").split() == ["1", "10", "1", "1"]


def test_kubeadm_itself_takes_what_lies_there(guest):
    guest.ssh("kubeadm config validate --config /etc/kubernetes/kubeadm.yaml")


def test_what_opens_the_cluster_is_roots_alone(guest):
    listed = "stat --format=%a /etc/kubernetes/policies /etc/kubernetes/encryption /etc/kubernetes/kubeadm.yaml"
    assert guest.says(f"{listed} | tr '\\n' ' '").split() == ["700", "700", "600"]


def test_a_newer_catalog_is_left_to_the_upgrade(machines):
    """The packages on the host are another version than the one that is asked for now."""
    moved = {**CARRIED, "kubernetes_version": "1.36.99"}
    ran = machines.ansible(PART, variables=moved)
    assert not ran.succeeded
    assert "playbooks/upgrade.yml" in ran.said


def test_a_node_of_another_cluster_is_left_alone(machines, guest):
    guest.ssh("printf 'site: other\\napi: 10.9.9.9\\nstate: done\\n' >/etc/kubernetes/rackwright.yaml")
    ran = machines.ansible(PART, variables=CARRIED)
    guest.ssh("rm /etc/kubernetes/rackwright.yaml")
    assert not ran.succeeded
    assert "10.9.9.9" in ran.said
