"""What stands in the way of a change that goes from node to node."""

import json

import pytest

from rackwright.metal import rolling


def node(name, version="v1.36.1+k3s1", *, ready="True", cordoned=False, mark=""):
    return {
        "metadata": {"name": name, "annotations": {rolling.DRAINED_FOR: mark} if mark else {}},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {"conditions": [{"type": "Ready", "status": ready}], "nodeInfo": {"kubeletVersion": version}},
    }


def said(*nodes):
    return json.dumps({"items": list(nodes)})


def test_nothing_stands_in_the_way_of_nodes_that_are_well():
    assert rolling.hindrances(said(node("a"), node("b")), ["a", "b"], "v1.37.2+k3s1") == []


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (node("b", ready="False"), "b is not Ready"),
        (node("b", ready="Unknown"), "b is not Ready"),
        (node("b", cordoned=True), "b was cordoned by somebody else"),
        (
            node("b", "v1.34.5+k3s1"),
            "b: its version is v1.34.5+k3s1, and the catalog says v1.36.1+k3s1: minors are passed",
        ),
        (node("b", "v1.37.0+k3s1"), "Kubernetes does not go back"),
        (node("other"), "b is a host of the site and no node of the cluster"),
    ],
)
def test_each_hindrance_is_said_before_a_node_is_touched(bad, words):
    (found,) = rolling.hindrances(said(node("a"), bad), ["a", "b"], "v1.36.1+k3s1")
    assert words in found


def test_a_node_that_we_drained_is_gone_on_with_though_it_is_not_ready():
    ours = node("b", "v1.35.2+k3s1", ready="False", cordoned=True, mark="v1.36.1+k3s1")
    assert rolling.hindrances(said(node("a"), ours), ["a", "b"], "v1.36.1+k3s1") == []


def test_versions_do_not_matter_where_a_driver_is_exchanged():
    assert rolling.hindrances(said(node("a", "v1.30.0")), ["a"]) == []


@pytest.mark.parametrize(
    ("there", "due"),
    [
        (node("a"), False),
        (node("a", "v1.35.9+k3s1"), True),
        (node("a", cordoned=True, mark="v1.36.1+k3s1"), True),
        (node("other"), True),
    ],
)
def test_only_a_node_that_is_not_there_yet_is_drained(there, due):
    assert rolling.is_due(said(there), "a", "v1.36.1+k3s1") is due


def test_one_node_is_understood_as_a_list_is():
    assert list(rolling.nodes(json.dumps(node("a")))) == ["a"]
    assert rolling.nodes("") == {}
