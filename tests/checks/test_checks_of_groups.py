"""Replicas on several hosts: what is said where one of their pods is missing, doubled, or cannot reach another."""

from pathlib import Path

import pytest

from components.base.component import namespace
from components.base.network import from_peers, names, pods_in, policy
from components.vllm.members import ways_among
from components.vllm.pod import labels
from rackwright.checks.findings import Outcome
from rackwright.checks.groups import groups_are_whole
from rackwright.checks.objects import Objects
from rackwright.checks.scraped import every_part_is_scraped
from rackwright.site.lws_names import SET, leader, leading
from rackwright.site.site import Site
from rackwright.site.spans import spanning

SITE = Site.load(Path(__file__).resolve().parents[1] / "fixtures" / "valid" / "spanning.yml")
(GROUP,) = spanning(SITE)
NAME = GROUP.model.name
LEADS = leader(NAME, 0)
OWNER = [{"kind": "StatefulSet", "name": "x"}]


def pods(name: str, marks: dict[str, str]) -> dict:
    template = {"metadata": {"labels": marks}, "spec": {"containers": [{"name": "vllm"}]}}
    return {"kind": "StatefulSet", "metadata": {"namespace": "models", "name": name}, "spec": {"template": template}}


def pod(name: str, node: str) -> dict:
    metadata = {"namespace": "models", "name": name, "labels": labels(GROUP.model) | {SET: NAME}}
    return {"kind": "Pod", "metadata": metadata | {"ownerReferences": OWNER}, "spec": {"nodeName": node}}


def claim(pod: str, of: str = NAME) -> dict:
    metadata = {"namespace": "models", "name": f"models-{pod}", "labels": {SET: of}}
    return {"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": {}}


def rack() -> list[dict]:
    """What phase 2 lays of it, and what the controller makes."""
    ours = labels(GROUP.model) | {SET: NAME}
    plain = policy("models", ingress=[from_peers([pods_in("gateway")], 8000)], egress=[names()])
    return [
        namespace("models", "restricted", {"kubernetes.io/metadata.name": "models"}),
        *(each | {"metadata": each["metadata"] | {"namespace": "models"}} for each in (plain, ways_among(GROUP.model))),
        {"kind": "LeaderWorkerSet", "metadata": {"namespace": "models", "name": NAME}},
        pods(NAME, leading(ours)),
        pods(LEADS, ours),
        pod(LEADS, "gpu-01"),
        pod(f"{LEADS}-1", "gpu-02"),
        *map(claim, (LEADS, f"{LEADS}-1")),
        {"kind": "PersistentVolumeClaim", "metadata": {"namespace": "models", "name": "models-other-7"}, "spec": {}},
    ]


def faults(objects: list[dict], phase: int = 2) -> list[str]:
    found = groups_are_whole(Objects(objects), SITE, phase)
    return [f"{each.where} {each.what}" for each in found if each.outcome is Outcome.FAILED]


def without(name: str, kind: str = "") -> list[dict]:
    return [each for each in rack() if (each["metadata"]["name"], kind or each["kind"]) != (name, each["kind"])]


def test_a_whole_rack_has_no_fault():
    assert faults(rack()) == []
    assert faults([], phase=1) == []


def test_a_set_that_is_not_there_is_told():
    assert faults(without(NAME, "LeaderWorkerSet")) == [f"LeaderWorkerSet models/{NAME} is not there"]


@pytest.mark.parametrize("name", [LEADS, f"{LEADS}-1"])
def test_a_pod_that_is_not_there_is_told(name):
    said = faults(without(name, "Pod"))
    assert said == [f"Pod models/{name} is not there, and the replica of {LEADS} takes 2 hosts"]


def test_two_on_one_host_are_told():
    objects = [*without(f"{LEADS}-1"), pod(f"{LEADS}-1", "gpu-01")]
    (said,) = faults(objects)
    assert said.startswith("Node gpu-01 holds several pods of the replica")


@pytest.mark.parametrize(
    "left",
    [claim(f"{leader(NAME, 1)}-1"), claim(f"{LEADS}-2"), claim("old-0-1", of="old")],
    ids=lambda each: each["metadata"]["name"],
)
def test_a_claim_of_a_replica_that_was_taken_away_is_told_once_nothing_mounts_it(left):
    name = left["metadata"]["name"]
    found = [each for each in groups_are_whole(Objects([*rack(), left]), SITE, 2) if each.outcome is Outcome.FAILED]
    assert [(each.where, each.cure) for each in found] == [
        (f"PersistentVolumeClaim models/{name}", f"kubectl -n models delete pvc {name}")
    ]
    ending = pod("ends", "gpu-02")
    ending["spec"]["volumes"] = [{"name": "models", "persistentVolumeClaim": {"claimName": name}}]
    assert faults([*rack(), left, ending]) == []


def test_a_way_that_is_shut_is_told_in_both_directions():
    said = faults(without(f"{NAME}-group"))
    assert said == [
        f"StatefulSet models/{NAME} may not call StatefulSet models/{LEADS}",
        f"StatefulSet models/{LEADS} may not call StatefulSet models/{NAME}",
    ]


def test_those_that_follow_need_no_monitor_and_those_that_lead_do():
    found = every_part_is_scraped(Objects(rack()))
    said = [each.where for each in found if each.outcome is Outcome.FAILED and "monitor" in each.what]
    assert f"StatefulSet models/{NAME}" in said
    assert f"StatefulSet models/{LEADS}" not in said
