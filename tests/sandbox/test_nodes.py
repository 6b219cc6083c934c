"""Nodes from a site: what a kubelet, the device plugin and feature discovery would have reported."""

from pathlib import Path

import pytest

from rackwright.sandbox.nodes import nodes, storage_capacities
from rackwright.site.catalog import Catalog
from rackwright.site.gpu_resources import mig_profiles, offered
from rackwright.site.hosts import Gpus
from rackwright.site.site import Site
from rackwright.site.volumes import SPARE_GB

INVENTORY = Path(__file__).resolve().parents[2] / "inventory"
CATALOG = Catalog.load()


@pytest.fixture
def lab():
    return Site.load(INVENTORY / "lab")


def changed(site, gpu=None, gpus=None):
    """The site with other settings of sharing, and of the first host's GPUs; rules are not run again."""
    host = site.hosts[0].model_copy(update={"gpus": site.hosts[0].gpus.model_copy(update=gpus or {})})
    return site.model_copy(
        update={"gpu": site.gpu.model_copy(update=gpu or {}), "hosts": (host, *site.hosts[1:])},
    )


def first(site, phase=1):
    return nodes(site, phase, CATALOG)[0]


def test_a_phase_shows_its_hosts_and_no_others(lab):
    assert [node["metadata"]["name"] for node in nodes(lab, 1, CATALOG)] == ["gpu-01"]
    assert [node["metadata"]["name"] for node in nodes(lab, 2, CATALOG)] == [host.name for host in lab.hosts]


def test_whole_gpus_are_offered_by_their_number(lab):
    node = first(lab)
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    labels = node["metadata"]["labels"]
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"
    assert labels["nvidia.com/gpu.memory"] == "81559"
    assert labels["nvidia.com/gpu.family"] == "hopper"
    assert labels["nvidia.com/cuda.driver-version.full"] == CATALOG.drivers[580].version


def test_a_host_without_gpus_says_nothing_of_them(lab):
    agents = next(node for node in nodes(lab, 2, CATALOG) if node["metadata"]["name"] == "agents-01")
    assert not [name for name in agents["status"]["capacity"] if name.startswith("nvidia.com/")]
    assert not [name for name in agents["metadata"]["labels"] if "nvidia.com" in name or "10de" in name]


def test_time_slices_multiply_what_is_offered_but_not_what_is_there(lab):
    node = first(changed(lab, gpu={"time_slices": 4}))
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "32"
    labels = node["metadata"]["labels"]
    assert labels["nvidia.com/gpu.count"] == "8"
    assert labels["nvidia.com/gpu.replicas"] == "4"
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3-SHARED"


def test_single_mig_offers_slices_as_gpus(lab):
    node = first(changed(lab, gpu={"mig_strategy": "single"}, gpus={"mig": "all-1g.10gb"}))
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "56"
    labels = node["metadata"]["labels"]
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"
    assert labels["nvidia.com/mig.config"] == "all-1g.10gb"
    assert labels["nvidia.com/mig.strategy"] == "single"


def test_mixed_mig_offers_each_profile_under_its_own_name(lab):
    node = first(changed(lab, gpu={"mig_strategy": "mixed"}, gpus={"mig": "all-balanced"}))
    offer = {name: count for name, count in node["status"]["allocatable"].items() if name.startswith("nvidia.com/")}
    assert offer == {"nvidia.com/mig-1g.10gb": "16", "nvidia.com/mig-2g.20gb": "8", "nvidia.com/mig-3g.40gb": "8"}
    labels = node["metadata"]["labels"]
    assert labels["nvidia.com/mig-2g.20gb.count"] == "8"
    assert labels["nvidia.com/gpu.count"] == "8"


@pytest.mark.parametrize(
    ("product", "memory_gb", "profiles"),
    [
        ("a100_sxm", 40, {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}),
        ("h200_sxm", 141, {"1g.18gb": 2, "2g.35gb": 1, "3g.71gb": 1}),
        ("b200_sxm", 180, {"1g.23gb": 2, "2g.45gb": 1, "3g.90gb": 1}),
        ("rtx_pro_6000_blackwell", 96, {"1g.24gb": 2, "2g.48gb": 1}),
    ],
)
def test_the_balanced_layout_is_the_operators(product, memory_gb, profiles):
    link = "pcie" if product.startswith("rtx") else "nvswitch"
    gpus = Gpus(product=product, count=8, memory_gb=memory_gb, link=link, mig="all-balanced")
    assert mig_profiles(gpus) == profiles


def test_mig_counts_only_where_the_site_has_a_strategy(lab):
    gpus = lab.hosts[0].gpus.model_copy(update={"mig": "all-1g.10gb"})
    assert offered(gpus, lab.gpu) == {"nvidia.com/gpu": 8}


def test_labels_are_such_that_kubernetes_takes_them(lab):
    for site in (lab, changed(lab, gpu={"mig_strategy": "mixed"}, gpus={"mig": "all-balanced"})):
        for node in nodes(site, 2, CATALOG):
            assert all(isinstance(value, str) and len(value) <= 63 for value in node["metadata"]["labels"].values())


def test_the_server_of_phase_1_is_k3s_and_takes_everything(lab):
    node = first(lab)
    assert node["metadata"]["labels"]["node-role.kubernetes.io/control-plane"] == "true"
    assert node["metadata"]["labels"]["node-role.kubernetes.io/etcd"] == "true"
    assert node["spec"]["taints"] == []
    assert node["status"]["nodeInfo"]["kubeletVersion"] == CATALOG.kubernetes.k3s


def test_hosts_of_phase_2_that_are_kept_for_something_take_no_other_work(lab):
    rack = nodes(lab, 2, CATALOG)
    keys = {node["metadata"]["name"]: [each["key"] for each in node["spec"]["taints"]] for node in rack}
    control = ["node-role.kubernetes.io/control-plane"]
    assert {name: kept for name, kept in keys.items() if kept} == {
        "agents-01": ["rackwright/agents"],
        "train-01": ["rackwright/training"],
        **dict.fromkeys(("control-01", "control-02", "control-03"), control),
    }
    assert first(lab, 2)["status"]["nodeInfo"]["kubeletVersion"] == f"v{CATALOG.kubernetes.kubeadm}"


def test_lent_gpus_are_seen_by_who_places_models(lab):
    lending = lab.model_copy(update={"training": lab.training.model_copy(update={"lends_gpus": True})})
    node = next(each for each in nodes(lending, 2, CATALOG) if each["metadata"]["name"] == "train-01")
    assert node["metadata"]["labels"]["rackwright/inference"] == "true"
    assert [each["effect"] for each in node["spec"]["taints"]] == ["PreferNoSchedule"]


def test_every_node_has_a_pod_network_of_its_own(lab):
    networks = [node["spec"]["podCIDR"] for node in nodes(lab, 2, CATALOG)]
    assert len(set(networks)) == len(lab.hosts)
    assert networks[0] == "10.44.0.0/24"


def test_allocatable_is_less_than_what_is_installed(lab):
    status = first(lab)["status"]
    allocatable, capacity = (int(status[each]["memory"].removesuffix("Mi")) for each in ("allocatable", "capacity"))
    assert allocatable < capacity < lab.hosts[0].memory_gib * 1024


def test_room_on_the_drives_is_told_by_purpose(lab):
    example = Site.load(INVENTORY / "example")
    rooms = {each["metadata"]["name"]: each for each in storage_capacities(example, 1)}
    assert rooms["hgx-01-models"]["capacity"] == str((2 * 3840 - SPARE_GB) * 10**9)
    assert rooms["hgx-01-models"]["storageClassName"] == "nvme-models"
    assert "control-01-system" not in {each["metadata"]["name"] for each in storage_capacities(lab, 2)}
