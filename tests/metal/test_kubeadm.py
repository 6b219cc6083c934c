"""What kubeadm is told: judged by kubeadm itself, and by what a rack needs that kubeadm does not ask for."""

import subprocess
from pathlib import Path

import pytest
import yaml

from rackwright.metal import kube_router, kubeadm, kubernetes_plan
from rackwright.sandbox import tools
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
FILES = [*sorted((ROOT / "inventory").glob("*/site.yml")), *sorted((ROOT / "tests/fixtures/valid").glob("*.yml"))]
SITES = [site for file in FILES if 2 in (site := Site.load(file)).phases]
CATALOG = Catalog.load()


@pytest.fixture(scope="session")
def kubeadm_program() -> Path:
    return tools.ensure(["kubeadm"])["kubeadm"].path


def plan(site: Site, host: Host, **more: object) -> dict:
    return kubernetes_plan.plan(
        host,
        host.operating_system or site.operating_system,
        site.clusters.phase2,
        site.networks,
        site.hosts_in(2, "control"),
        CATALOG,
        site=site.name,
        minutes=5,
        **more,
    )


def hosts() -> list[tuple[Site, Host]]:
    return [(site, host) for site in SITES for host in site.hosts_in(2)]


def named(value: object) -> str:
    return value.name


def judged(program: Path, text: str, tmp_path: Path) -> str:
    file = tmp_path / "configuration.yaml"
    file.write_text(text)
    done = subprocess.run(
        [program, "config", "validate", "--config", file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_some_site_has_a_second_phase():
    assert len(SITES) >= 2


@pytest.mark.parametrize(("site", "host"), hosts(), ids=named)
def test_kubeadm_takes_every_configuration(site, host, kubeadm_program, tmp_path):
    wished = plan(site, host)
    opened = kubeadm.opened(
        wished["joining"], token="abcdef.0123456789abcdef", ca_hash="sha256:" + "0" * 64, certificate_key="1" * 64
    )
    said = judged(kubeadm_program, kubernetes_plan.written([opened]), tmp_path)
    if wished["is_control"]:
        # What one kubelet reads for itself is put into the cluster's here, so that kubeadm judges its keys as well.
        documents = list(yaml.safe_load_all(wished["founding"]))
        own = yaml.safe_load(next(each["text"] for each in wished["files"] if each["path"].endswith("10-host.conf")))
        documents = [{**each, **own} if each["kind"] == own["kind"] else each for each in documents]
        said += judged(kubeadm_program, wished["founding"], tmp_path)
        said += judged(kubeadm_program, kubernetes_plan.written(documents), tmp_path)
    assert "W" not in {line[:1] for line in said.splitlines()}, said  # klog's warnings: an unknown key is no more


def test_kubeadm_refuses_a_key_that_it_does_not_know(kubeadm_program, tmp_path):
    site, host = next(each for each in hosts() if "control" in each[1].roles)
    with pytest.raises(AssertionError, match="unknown field"):
        judged(kubeadm_program, plan(site, host)["founding"].replace("certSANs", "certSAN"), tmp_path)


def test_the_pause_image_is_the_one_that_kubeadm_wants(kubeadm_program):
    command = [kubeadm_program, "config", "images", "list", "--kubernetes-version", f"v{CATALOG.kubernetes.kubeadm}"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert CATALOG.images["pause"].reference in listed


@pytest.mark.parametrize(("site", "host"), hosts(), ids=named)
def test_no_two_hosts_share_what_is_their_own(site, host):
    wished = plan(site, host)
    assert wished["joining"]["nodeRegistration"]["name"] == host.name
    arguments = {each["name"]: each["value"] for each in wished["joining"]["nodeRegistration"]["kubeletExtraArgs"]}
    assert arguments["node-ip"] == str(host.address)
    assert ("controlPlane" in wished["joining"]) == wished["is_control"] == bool(wished["founding"])


def test_what_the_cluster_keeps_is_the_same_on_every_control_host():
    for site in SITES:
        kept = [list(yaml.safe_load_all(plan(site, host)["founding"]))[1:] for host in site.hosts_in(2, "control")]
        assert all(each == kept[0] for each in kept)


def test_taints_are_written_out_also_when_there_are_none():
    """Kubeadm would taint a control host that serves models too."""
    rack = next(site for site in SITES if site.name == "rack")
    for host in rack.hosts_in(2):
        assert plan(rack, host)["joining"]["nodeRegistration"]["taints"] == []


def test_a_host_with_gpus_has_its_threads_pinned_and_something_kept_back_for_it():
    for _, host in hosts():
        own = kubeadm.kubelet_of(host)
        assert ("cpuManagerPolicy" in own) == (host.gpus is not None)
        assert own["systemReserved"]["cpu"] != "0m"  # the static policy refuses to start with nothing kept back


def test_pods_have_the_networks_whole_mtu():
    for site in SITES:
        bridge = kube_router.networks_file(site.networks.nodes)["plugins"][0]
        assert bridge["mtu"] == site.networks.nodes.mtu


def test_a_registry_of_the_racks_own_is_told_to_kubeadm():
    site, host = next(each for each in hosts() if "control" in each[1].roles)
    documents = list(yaml.safe_load_all(plan(site, host, images="registry.rack.internal/kubernetes")["founding"]))
    assert documents[1]["imageRepository"] == "registry.rack.internal/kubernetes"
    assert "imageRepository" not in list(yaml.safe_load_all(plan(site, host)["founding"]))[1]


def test_nothing_secret_stands_in_what_is_decided():
    for site, host in hosts():
        said = yaml.safe_dump(plan(site, host))
        assert "certificateKey" not in said
        assert "token" not in said.replace("bootstrapToken", "")
