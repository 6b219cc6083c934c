"""Labels and taints follow the roles of a host, wherever they are given."""

import pytest
from fixture_files import valid_file

from rackwright.site.node_marks import KEPT_FOR, labels, pods, relabelled, retainted, taints, toleration
from rackwright.site.site import Site

LAB = Site.load(valid_file("lab"))
HOSTS = {host.name: host for host in LAB.hosts}
TRAINING = {"key": "rackwright/training", "effect": "NoSchedule"}
AGENTS = {"key": "rackwright/agents", "effect": "NoSchedule"}
CONTROL = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}


def with_roles(name, *roles):
    return HOSTS[name].model_copy(update={"roles": roles})


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        (HOSTS["gpu-01"], []),
        (HOSTS["train-01"], [TRAINING]),
        (HOSTS["agents-01"], [AGENTS]),
        (HOSTS["control-01"], [CONTROL]),
        (with_roles("gpu-01", "inference", "control"), []),
        (with_roles("train-01", "training", "control"), [TRAINING]),
    ],
    ids=["inference", "training", "agents", "control", "inference and control", "training and control"],
)
def test_a_host_is_kept_for_what_it_does(host, wanted):
    assert taints(2, host) == wanted
    assert taints(1, host) == []  # one server takes everything


def test_every_role_is_a_label():
    assert labels(HOSTS["agents-01"]) == {"rackwright/agents": "true"}
    assert pods(HOSTS["agents-01"]) > pods(HOSTS["gpu-01"])


def test_a_lending_host_bears_the_label_of_inference_and_is_taken_last():
    host = HOSTS["train-01"]
    assert labels(host, lends_gpus=True) == {"rackwright/training": "true", "rackwright/inference": "true"}
    assert taints(2, host, lends_gpus=True) == [TRAINING | {"effect": "PreferNoSchedule"}]
    for other in ("gpu-01", "agents-01", "control-01"):
        assert taints(2, HOSTS[other], lends_gpus=True) == taints(2, HOSTS[other])
        assert labels(HOSTS[other], lends_gpus=True) == labels(HOSTS[other])


def test_what_tolerates_a_pool_tolerates_its_taint():
    assert {toleration(role)["key"] for role in KEPT_FOR} == {AGENTS["key"], TRAINING["key"]}


def test_labels_of_ours_come_and_go_and_others_stay():
    wanted = labels(HOSTS["agents-01"])
    shown = {"kubernetes.io/hostname": "a", "rackwright/training": "true"}
    assert relabelled(wanted, shown) == ["rackwright/agents=true", "rackwright/training-"]
    assert relabelled(wanted, wanted | {"kubernetes.io/hostname": "a"}) == []
    assert relabelled(wanted, {"rackwright/agents": "false"}) == ["rackwright/agents=true"]


def test_taints_of_ours_come_and_go_and_others_stay():
    cordoned = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    lent = TRAINING | {"effect": "PreferNoSchedule"}
    assert retainted([TRAINING], [lent, cordoned, AGENTS]) == [
        "rackwright/training:NoSchedule",
        "rackwright/agents:NoSchedule-",
        "rackwright/training:PreferNoSchedule-",
    ]
    assert retainted([TRAINING], [TRAINING, cordoned]) == []
    assert retainted([CONTROL], []) == ["node-role.kubernetes.io/control-plane:NoSchedule"]


def test_a_shared_control_host_loses_no_taint_that_is_not_ours():
    """Who taints a control host by hand means it."""
    assert retainted([], [CONTROL]) == []


def test_lent_gpus_are_counted_where_replicas_look_for_room():
    lending = LAB.model_copy(update={"training": LAB.training.model_copy(update={"lends_gpus": True})})
    own = ["gpu-01", "gpu-02", "gpu-03"]
    assert [host.name for _, host in LAB.numbered_servers_in(2)] == own
    assert [host.name for _, host in lending.numbered_servers_in(2)] == [*own, "train-01"]
    assert [host.name for _, host in lending.numbered_servers_in(1)] == ["gpu-01"]
