"""Training: on its own hosts, at its rank, and nobody put out for a GPU."""

import json

import pytest
from pool_jobs import JOBS, alone, create, end, job, places, pod_of, said, waits_for_room
from waiting import until

from rackwright.errors import Refusal


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"nodeSelector": {"rackwright/inference": "true"}}, "write nodeSelector rackwright/training"),
        ({"priorityClassName": "system-cluster-critical"}, "priorityClassName: rackwright-training"),
        ({"tolerations": [{"operator": "Exists"}]}, "tolerate rackwright/training"),
        ({"hostPID": True}, "violates PodSecurity"),
    ],
)
def test_training_stays_on_its_hosts_at_its_rank(pools, changed, why):
    pod = pod_of("training.md")
    assert said(pools, JOBS, pod) == ""
    assert why in said(pools, JOBS, pod | {"spec": pod["spec"] | changed})


def test_neither_training_nor_a_model_takes_the_others_gpus(pools):
    """On a host that lends: what came first stays, whatever waits."""
    asked = {"limits": {"nvidia.com/gpu": "8"}}
    rank = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "pool-model"},
        "value": 1008,
        "preemptionPolicy": "Never",
    }
    model = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pool-model", "namespace": "default"},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": "pool-train", "rackwright/inference": "true"},
            "priorityClassName": "pool-model",
            "containers": [{"name": "engine", "image": "x", "resources": asked}],
        },
    }
    pools.apply([rank])
    try:
        alone(pools, JOBS, "first", of_gpus(8))
        until(lambda: places(pools, JOBS, "first") == ["pool-train"], "training on its host")
        create(pools, model)
        until(lambda: is_unplaced(pools), "the model waits")
        assert places(pools, JOBS, "first") == ["pool-train"]
        end(pools, JOBS, "first")
        until(lambda: place_of_model(pools) == "pool-train", "the model on what is lent")
        alone(pools, JOBS, "second", of_gpus(1))
        until(lambda: waits_for_room(pools, JOBS, "second"), "training waits")
        assert place_of_model(pools) == "pool-train"
    finally:
        end(pools, JOBS, "first", "second")
        end(pools, "default", "pool-model")
        pools.kubectl.delete("priorityclass", "pool-model")


def test_jobs_beyond_what_may_wait_are_refused(pools):
    names = ["one", "two", "three"]
    try:
        for name in names:
            create(pools, job("training.md", name))
        with pytest.raises(Refusal, match="exceeded quota: jobs"):
            create(pools, job("training.md", "four"))
    finally:
        for name in names:
            pools.kubectl.delete("job", name, namespace=JOBS)


def of_gpus(gpus):
    pod = pod_of("training.md")
    limits = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": str(gpus)}
    (first,) = pod["spec"]["containers"]
    return pod | {"spec": pod["spec"] | {"containers": [first | {"resources": {"limits": limits}}]}}


def model_pod(pools):
    return json.loads(pools.kubectl("get", "pod", "pool-model", "--output=json"))


def place_of_model(pools):
    return model_pod(pools)["spec"].get("nodeName")


def is_unplaced(pools):
    conditions = model_pod(pools)["status"].get("conditions", [])
    return any(each.get("reason") == "Unschedulable" for each in conditions)
