"""The proof: machines in order pass, and each thing that is wrong is said with its cure."""

import json
import time
from pathlib import Path

import pytest

from rackwright.errors import Refusal
from rackwright.preflight.judge import checks, spoken
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site
from rackwright.verify import asked, proof
from rackwright.verify.proof import BEFORE

ROOT = Path(__file__).resolve().parents[2]
SITE = Site.load(ROOT / "inventory" / "workstation")
CATALOG = Catalog.load()
NOW = time.mktime((2026, 11, 29, 12, 0, 0, 0, 0, 0))
DRIVER = CATALOG.drivers[580].version
CONTAINERD = """\
version = 3
[plugins.'io.containerd.cri.v1.runtime'.containerd]
  default_runtime_name = "nvidia"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.'nvidia']
  runtime_type = "io.containerd.runc.v2"
"""


def said(out, code=0, error=""):
    return {"code": code, "out": out, "error": error}


def node(name="ws-01", **status):
    whole = {
        "addresses": [{"type": "InternalIP", "address": "192.168.40.20"}, {"type": "Hostname", "address": name}],
        "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}],
        "nodeInfo": {"kubeletVersion": CATALOG.kubernetes.k3s},
    }
    return {"metadata": {"name": name}, "spec": {}, "status": whole | status}


def nodes(*each):
    return said(json.dumps({"items": list(each)}))


def in_order():
    groups = [{"vg_name": f"vg-{purpose}"} for purpose in ("models", "vectors", "database", "scratch")]
    name = "/var/lib/rancher/k3s/server/tls/serving-kube-apiserver.crt"
    return {
        "now": NOW,
        "nodes": nodes(node()),
        "containerd": CONTAINERD,
        "certificates": [{"path": name, "ends": said("notAfter=Nov  9 23:04:43 2027 GMT\n")}],
        "volumes": said(json.dumps({"report": [{"vg": groups}]})),
        "gpus": said(f"NVIDIA RTX PRO 6000, {DRIVER}\n" * 2),
    }


def looked(change=lambda _: None, answered=lambda _: None):
    answers = json.loads((ROOT / "tests/fixtures/machines/ws-01.json").read_text())
    answered(answers)
    shown = in_order()
    change(shown)
    return proof(SITE, 1, CATALOG, {"ws-01": answers}, {"ws-01": shown}, {})


def test_machines_in_order_pass():
    found = looked()
    assert found.succeeded, found.text()
    assert found.summary().startswith("Proof of workstation, phase 1: 1 host asked, as the site says")


def put(**values):
    return lambda shown: shown.update(values)


BROKEN = {
    "no node": (put(nodes=nodes()), "is no node of the cluster", "k3s.yml"),
    "not ready": (
        put(nodes=nodes(node(conditions=[{"type": "Ready", "status": "False", "message": "no CNI"}]))),
        "not ready: no CNI",
        "journal",
    ),
    "another version": (
        put(nodes=nodes(node(nodeInfo={"kubeletVersion": "v1.35.2+k3s1"}))),
        "runs v1.35.2+k3s1",
        "upgrade.yml",
    ),
    "another address": (
        put(nodes=nodes(node(addresses=[{"type": "InternalIP", "address": "10.0.0.1"}]))),
        "10.0.0.1",
        "node-ip",
    ),
    "cordoned": (put(nodes=nodes({**node(), "spec": {"unschedulable": True}})), "cordoned", "uncordon ws-01"),
    "a stranger": (put(nodes=nodes(node(), node("old"))), "node old", "delete node old"),
    "no cluster": (
        put(nodes=said("", 1, "The connection to the server was refused")),
        "connection to the server was refused",
        "journal",
    ),
    "words for nodes": (put(nodes=said("[]")), "no cluster that answers", "journal"),
    "no runtime": (put(containerd="version = 3\n"), "does not give pods NVIDIA's runtime", "restart k3s"),
    "runtime that is not the default": (
        put(containerd=CONTAINERD.replace("default_runtime_name", "other")),
        "does not give pods NVIDIA's runtime",
        "restart k3s",
    ),
    "no volume group": (
        put(volumes=said(json.dumps({"report": [{"vg": [{"vg_name": "vg-models"}]}]}))),
        "no volume group vg-vectors, vg-database, vg-scratch",
        "provision.yml",
    ),
    "a certificate that ends": (
        put(certificates=[{"path": "/a.crt", "ends": said("notAfter=Dec  9 12:00:00 2026 GMT\n")}]),
        "ends in 10 days",
        "restart k3s",
    ),
    "a certificate that has ended": (
        put(certificates=[{"path": "/a.crt", "ends": said("notAfter=Nov 19 12:00:00 2026 GMT\n")}]),
        "ended 10 days ago",
        "restart k3s",
    ),
    "a GPU off the bus": (put(gpus=said(f"NVIDIA RTX PRO 6000, {DRIVER}\n")), "shows 1 GPUs", "Xid"),
    "no driver": (put(gpus=said("", 127, "nvidia-smi gave no answer")), "shows no GPU", "provision.yml"),
    "another driver": (put(gpus=said("NVIDIA, 570.1\n" * 2)), "runs driver 570.1", "upgrade.yml"),
    "another form": (put(now="noon"), "another form", "preflight"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_said_with_its_cure(name):
    change, what, cure = BROKEN[name]
    found = looked(change)
    assert not found.succeeded
    assert [fault for fault in found.faults if what in fault.what and cure in fault.cure], found.text()
    assert len(found.faults) == 1, found.text()
    assert found.faults[0].host == "ws-01"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (put(containerd=None), "The configuration of containerd"),
        (put(volumes=said("", 5)), "Volume groups"),
        (put(certificates=[{"path": "/a.crt", "ends": said("", 1)}]), "The end of /a.crt"),
    ],
)
def test_what_was_not_shown_is_no_proof_and_no_fault(change, what):
    found = looked(change)
    assert found.succeeded
    assert what in found.text()


def test_what_preflight_would_change_is_wrong_once_all_is_done():
    def swaps(answers):
        answers["swap"]["swaps"] += "/swap.img file 8388604 0 -2\n"

    found = looked(answered=swaps)
    assert [fault.check for fault in found.faults] == ["swap is off"]


def test_what_is_only_asked_before_is_not_asked_again():
    def alone(answers):
        answers["addresses"] = {}

    assert looked(answered=alone).succeeded
    assert {spoken(check) for check in checks()} >= BEFORE


def test_a_silent_host_is_wrong_and_the_others_are_judged():
    found = proof(SITE, 1, CATALOG, {}, {}, {"ws-01": "No route to host"})
    assert [fault.what for fault in found.faults] == ["could not be asked: No route to host"]


def test_where_nobody_was_asked_nothing_is_proved():
    with pytest.raises(Refusal, match=r"No host of phase 1 of .* was asked, so nothing is proved\."):
        proof(SITE, 1, CATALOG, {}, {}, {"another": "is of no phase"})


def test_the_proof_is_plain_data_too():
    found = looked(BROKEN["no node"][0]).as_json()
    assert not json.loads(json.dumps(found))["succeeded"]
    assert found["findings"][-1]["kind"] == "wrong"


def test_only_hosts_of_the_control_plane_are_asked_for_nodes():
    lab = Site.load(ROOT / "inventory" / "lab")
    hosts = {host.name: host for host in lab.hosts}
    assert asked(lab, hosts["gpu-01"], 1)["kubectl"] == ["/usr/local/bin/k3s", "kubectl"]
    assert asked(lab, hosts["gpu-01"], 2)["kubectl"] == []
    control = asked(lab, hosts["control-01"], 2)
    assert control["kubectl"][0] == "/usr/bin/kubectl"
    assert not control["gpus"]
    assert control["containerd"] == []


def test_with_a_limit_to_other_hosts_nobody_says_that_a_node_is_missing():
    assert looked(put(nodes=None)).succeeded
