"""Name servers that all stand on one node are seen."""

import pytest

from rackwright.metal.core_dns import is_crowded


def node(*taints, ready="True", unschedulable=False):
    marks = [{"key": key, "effect": "NoSchedule"} for key in taints]
    spec = {"taints": marks, "unschedulable": unschedulable}
    return {"spec": spec, "status": {"conditions": [{"type": "Ready", "status": ready}]}}


def pods(*nodes):
    return [{"spec": {"nodeName": name} if name else {}} for name in nodes]


CONTROL = node("node-role.kubernetes.io/control-plane")


@pytest.mark.parametrize(
    ("placed", "nodes", "crowded"),
    [
        (("a", "a"), (CONTROL, node()), True),
        (("a", "b"), (CONTROL, node()), False),
        (("a", "a"), (CONTROL,), False),
        (("a", "a"), (CONTROL, node(ready="False")), False),
        (("a", "a"), (CONTROL, node(unschedulable=True)), False),
        (("a", "a"), (CONTROL, node("somebody/else")), False),
        ((None, None), (node("node.kubernetes.io/not-ready"),), False),
        (("a",), (node(), node()), False),
    ],
)
def test_name_servers_on_one_node(placed, nodes, crowded):
    assert is_crowded(pods(*placed), list(nodes)) is crowded
