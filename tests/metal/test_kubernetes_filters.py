"""The filters between a play and what is decided: what kubeadm prints is understood, and never repeated."""

import json
import sys
from pathlib import Path

import pytest
import yaml
from ansible.errors import AnsibleFilterError

from rackwright.inventory import inventory
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "playbooks/filter_plugins"))

import metal_kubernetes  # noqa: E402 - its folder is Ansible's

TOKEN = "abcdef.0123456789abcdef"
HASH = "sha256:" + "ab" * 32
PRINTED = f"kubeadm join 10.0.0.5:6443 --token {TOKEN} --discovery-token-ca-cert-hash {HASH} \n"
KEYS = "[upload-certs] Storing the certificates in Secret\n[upload-certs] Using certificate key:\n" + "cd" * 32 + "\n"


def seen(name: str) -> tuple[dict, dict, dict, list[dict]]:
    """A host, the site, the catalog and the control hosts, as a play of the sample site sees them."""
    found = inventory(Site.load(ROOT / "inventory/lab"), Catalog.load())
    controls = [found.hosts[each]["host"] for each in found.groups["kubernetes_control"]]
    return found.hosts[name]["host"], found.shared["site"], found.shared["catalog"], controls


def planned(name: str) -> dict:
    host, site, catalog, controls = seen(name)
    return metal_kubernetes.kubernetes_plan_of(host, site, catalog, controls, 5)


def test_a_control_host_joins_by_what_kubeadm_printed():
    document = yaml.safe_load(metal_kubernetes.kubernetes_joining(planned("control-02")["joining"], PRINTED, KEYS))
    assert document["discovery"]["bootstrapToken"]["token"] == TOKEN
    assert document["discovery"]["bootstrapToken"]["caCertHashes"] == [HASH]
    assert document["controlPlane"]["certificateKey"] == "cd" * 32


def test_a_worker_needs_no_key_of_certificates():
    assert "controlPlane" not in yaml.safe_load(
        metal_kubernetes.kubernetes_joining(planned("gpu-02")["joining"], PRINTED, "")
    )


@pytest.mark.parametrize(("printed", "keys"), [("", KEYS), (PRINTED, "")])
def test_a_failure_repeats_no_token(printed, keys):
    with pytest.raises(AnsibleFilterError) as refused:
        metal_kubernetes.kubernetes_joining(planned("control-02")["joining"], printed, keys)
    assert TOKEN not in str(refused.value)


def test_the_packages_are_of_the_catalogs_minor_for_every_system():
    host, site, catalog, controls = seen("gpu-02")
    for name, release, address in (
        ("ubuntu", "22.04", "deb/"),
        ("ubuntu", "24.04", "deb/"),
        ("debian", "12", "deb/"),
        ("debian", "13", "deb/"),
        ("rocky", "9", "rpm/"),
        ("rhel", "9", "rpm/"),
    ):
        of_system = {**host, "operating_system": {"name": name, "release": release}}
        wished = metal_kubernetes.kubernetes_plan_of(of_system, site, catalog, controls, 5)
        assert wished["repository"]["address"].endswith(f"v{catalog['kubernetes']['minor']}/{address}")
        assert wished["packages"]["kubelet"] == catalog["kubernetes"]["kubeadm"]
        runtime = metal_kubernetes.containerd_plan(of_system, site, catalog)
        assert runtime["repository"]["key"].startswith("https://")
        assert runtime["package_format"] == wished["package_format"] == address.removesuffix("/")


def test_a_site_without_a_second_phase_is_refused_in_words():
    host, site, catalog, controls = seen("gpu-01")
    alone = {**site, "clusters": {"phase1": site["clusters"]["phase1"], "phase2": None}}
    with pytest.raises(AnsibleFilterError, match="no phase 2"):
        metal_kubernetes.kubernetes_plan_of(host, alone, catalog, controls, 5)


def test_the_certificate_that_ends_first_counts():
    said = {"certificates": [{"residualTime": 86400 * 200}, {"residualTime": 86400 * 30 + 5}, {"missing": True}]}
    assert metal_kubernetes.kubernetes_days_left(said) == 30


def test_a_node_joins_with_the_taints_of_its_roles_and_is_told_what_it_lacks_later():
    for name, wanted in (("agents-01", ["rackwright/agents"]), ("train-01", ["rackwright/training"]), ("gpu-02", [])):
        wished = planned(name)
        assert [each["key"] for each in wished["joining"]["nodeRegistration"]["taints"]] == wanted
        assert wished["taints"] == wished["joining"]["nodeRegistration"]["taints"]
        bare = json.dumps({"metadata": {}, "spec": {}})
        words = metal_kubernetes.kubernetes_marks(bare, wished["labels"], wished["taints"])
        assert words["taints"] == [f"{key}:NoSchedule" for key in wanted]
        assert words["labels"] == [f"{key}={value}" for key, value in wished["labels"].items()]


def test_lent_gpus_are_marked_when_a_node_joins():
    host, site, catalog, controls = seen("train-01")
    lending = {**site, "training": {**site["training"], "lends_gpus": True}}
    wished = metal_kubernetes.kubernetes_plan_of(host, lending, catalog, controls, 5)
    (taint,) = wished["joining"]["nodeRegistration"]["taints"]
    assert taint == {"key": "rackwright/training", "effect": "PreferNoSchedule"}
    assert wished["labels"]["rackwright/inference"] == "true"
