"""Phase 2 of the lab, rehearsed: it comes up whole, lets every node be drained, and outlives the loss of one."""

import json
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from broken_objects import fresh
from waiting import until

from rackwright.rollout.rehearsal.death import KEPT
from rackwright.sandbox.nodes import nodes
from rackwright.site.site import Site

GPU = "nvidia.com/gpu"
LAB = Site.load(Path(__file__).resolve().parents[2] / "inventory" / "lab")
SERVERS = [host.name for host in LAB.hosts_in(2, "inference")]
WORKERS = [host.name for host in LAB.hosts_in(2) if "control" not in host.roles]


def ready(rack, namespace):
    """How many of a namespace's pods that must be kept are Ready."""
    label, _ = KEPT[namespace]
    pods = [each for each in rack.kubectl.get("pods", labels=label) if each["metadata"]["namespace"] == namespace]
    assert pods, "the label names nobody"
    conditions = [{each["type"]: each["status"] for each in pod["status"].get("conditions", [])} for pod in pods]
    return sum(each.get("Ready") == "True" for each in conditions)


def assert_served(rack):
    for namespace, (_, least) in KEPT.items():
        assert ready(rack, namespace) >= least, namespace


def test_it_comes_up_whole_and_a_second_run_finds_nothing_to_do(rack):
    assert rack.report.succeeded, rack.report.as_json()
    assert_served(rack)


@contextmanager
def databases_are_made_again(rack):
    """What CloudNativePG does for an instance that is gone, and no Stage plays: it makes and counts it."""
    before = rack.kubectl.get("pods", labels=KEPT["postgres"][0])
    yield
    there = {each["metadata"]["name"] for each in rack.kubectl.get("pods", labels=KEPT["postgres"][0])}
    for each in before:
        if each["metadata"]["name"] not in there:
            made = fresh(each)
            del made["spec"]["nodeName"]
            made["metadata"]["ownerReferences"] = each["metadata"]["ownerReferences"]
            rack.kubectl("create", "--filename=-", given=json.dumps(made))
    until(lambda: ready(rack, "postgres") == len(before), "an instance found no room again")
    counted = json.dumps({"status": {"readyInstances": len(before)}})
    where = ("--namespace=postgres", "--subresource=status", "--type=merge")
    rack.kubectl("patch", "clusters.postgresql.cnpg.io", "postgres", *where, "--patch", counted)


@pytest.mark.parametrize("name", WORKERS)
def test_every_node_lets_itself_be_drained_and_comes_back(rack, name):
    with databases_are_made_again(rack):
        drain(rack, name)
    rack.until_whole()


def drain(rack, name):
    """Empty a node as somebody does who is to work on it, and take it back."""
    try:
        rack.kubectl("drain", name, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=120s")
        assert_served(rack)
    finally:
        rack.kubectl("uncordon", name)


def test_gpus_are_never_given_twice(rack):
    taken = Counter()
    for pod in rack.kubectl.get("pods"):
        for each in pod["spec"]["containers"]:
            taken[pod["spec"].get("nodeName")] += int(each.get("resources", {}).get("limits", {}).get(GPU, 0))
    assert {host.name: taken[host.name] for host in LAB.hosts_in(2, "inference")} == dict.fromkeys(SERVERS, 8)
    assert taken.total() == 8 * len(SERVERS)


def test_the_loss_of_a_node_leaves_data_and_gateway(rack):
    """The node is gone for good as far as the cluster knows; then it joins again."""
    lost = [each for each in nodes(LAB, 2, rack.catalog) if each["metadata"]["name"] == "gpu-02"]
    with databases_are_made_again(rack):
        rack.kubectl("delete", "node", "gpu-02", "--wait=true")
        assert_served(rack)
        for pod in rack.kubectl.get("pods"):  # the cluster gives up on them after a while, which nobody waits for here
            if pod["spec"].get("nodeName") == "gpu-02":
                where = ("--namespace", pod["metadata"]["namespace"])
                rack.kubectl("delete", "pod", pod["metadata"]["name"], *where, "--force", "--ignore-not-found")
        assert_served(rack)
        rack.kubectl.apply(lost)
    rack.until_whole()
