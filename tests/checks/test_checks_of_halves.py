"""Halves of a model: what is said where one is not there, the way between is shut, or no port is offered."""

from pathlib import Path

import pytest

from components.base.component import namespace
from components.base.network import from_peers, names, pods_in, policy
from components.vllm.halves import MODEL, ROLE, SIDE_PORT, ways_between
from components.vllm.pod import labels
from rackwright.checks.findings import Outcome
from rackwright.checks.halves import halves_meet, rdma_ports_are_allocatable
from rackwright.checks.objects import Objects
from rackwright.site.rdma_ports import PODS, RESOURCE
from rackwright.site.site import Site

SITE = Site.load(Path(__file__).resolve().parents[1] / "fixtures" / "valid" / "divided.yml")
DIVIDED = [model for model, serving in SITE.models_in(2) if serving.disaggregation]
PORTS = [{"name": "http", "containerPort": 8000}, {"name": "side-channel", "containerPort": SIDE_PORT}]


def half(group) -> dict:
    marks = labels(group.model) | {ROLE: group.half, MODEL: group.served}
    template = {"metadata": {"labels": marks}, "spec": {"containers": [{"ports": PORTS}]}}
    metadata = {"namespace": "models", "name": group.model.name}
    return {"kind": "StatefulSet", "metadata": metadata, "spec": {"template": template}}


def node(name: str, ports: int = PODS) -> dict:
    return {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {RESOURCE: str(ports)}}}


def rack() -> list[dict]:
    """What phase 2 lays of it: both halves of two models, the ways between, nodes that offer their ports."""
    plain = policy("models", ingress=[from_peers([pods_in("gateway"), pods_in("router")], 8000)], egress=[names()])
    ways = [plain, *(way for model in DIVIDED for way in ways_between(model))]
    return [
        namespace("models", "restricted", {"kubernetes.io/metadata.name": "models"}),
        *(each | {"metadata": each["metadata"] | {"namespace": "models"}} for each in ways),
        *(half(group) for group in SITE.groups_in(2) if group.half),
        *(node(host.name) for host in SITE.hosts_in(2)),
    ]


def faults(check, objects: list[dict], phase: int = 2) -> list[str]:
    found = check(Objects(objects), SITE, phase)
    return [f"{each.where} {each.what}" for each in found if each.outcome is Outcome.FAILED]


def without(name: str) -> list[dict]:
    return [each for each in rack() if each["metadata"]["name"] != name]


@pytest.mark.parametrize("check", [halves_meet, rdma_ports_are_allocatable])
def test_a_whole_rack_has_no_fault(check):
    assert faults(check, rack()) == []
    assert faults(check, rack(), phase=1) == []


@pytest.mark.parametrize("name", ["llama-70b", "llama-70b-prefill"])
def test_a_half_that_is_not_there_is_told(name):
    assert faults(halves_meet, without(name)) == [f"StatefulSet models/{name} is not there"]


@pytest.mark.parametrize("way", ["llama-70b-asks", "llama-70b-is-asked"])
def test_a_way_that_is_shut_is_told_by_port(way):
    said = faults(halves_meet, without(way))
    ends = "StatefulSet models/llama-70b may not call StatefulSet models/llama-70b-prefill at port"
    assert said == [f"{ends} {port}" for port in (8000, SIDE_PORT)]


def test_a_node_without_ports_is_told():
    objects = [*without("gpu-02"), node("gpu-02", ports=0)]
    assert faults(rdma_ports_are_allocatable, objects) == [f"Node gpu-02 offers no {RESOURCE}"]
