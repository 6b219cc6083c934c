"""A rack with a model whose replica takes two hosts, rehearsed: it comes up whole, and outlives a drain of either."""

from pathlib import Path

import pytest
from waiting import until

from rackwright.site.lws_names import INDEX
from rackwright.site.site import Site
from rackwright.site.spans import spanning

SHAPE = Path(__file__).resolve().parents[1] / "fixtures" / "valid" / "spanning.yml"
(GROUP,) = spanning(Site.load(SHAPE))
NAME = GROUP.model.name
OURS = f"app.kubernetes.io/instance={NAME}"


@pytest.fixture
def rack(rack_of_groups):
    return rack_of_groups


def engines(rack, *more: str) -> dict[str, str]:
    """Its pods and their nodes, those alone that are ready."""
    labels = ",".join(("app.kubernetes.io/name=vllm", OURS, *more))
    return {
        each["metadata"]["name"]: each["spec"]["nodeName"]
        for each in rack.kubectl.get("pods", namespace="models", labels=labels)
        if any(said["type"] == "Ready" and said["status"] == "True" for said in each["status"].get("conditions", []))
    }


def test_it_comes_up_whole_and_a_second_run_finds_nothing_to_do(rack):
    assert rack.report.succeeded, rack.report.as_json()
    assert set(engines(rack)) == {f"{NAME}-0", f"{NAME}-0-1"}
    assert len(set(engines(rack).values())) == GROUP.hosts


def test_no_gpu_is_given_out_twice(rack):
    taken = dict.fromkeys((host.name for host in rack.site.hosts_in(2)), 0)
    for pod in rack.kubectl.get("pods", namespace="models"):
        limits = pod["spec"]["containers"][0]["resources"]["limits"]
        taken[pod["spec"]["nodeName"]] += int(limits.get("nvidia.com/gpu", 0))
    assert sum(taken.values()) == sum(each.model.gpus * each.serving.replicas for each in rack.site.groups_in(2))
    assert all(taken[host.name] <= host.gpu_count for host in rack.site.hosts_in(2))


def test_the_pool_chooses_among_those_that_lead(rack):
    selector = rack.get("inferencepool", NAME, "models")["spec"]["selector"]["matchLabels"]
    assert selector[INDEX] == "0"
    assert set(engines(rack, f"{INDEX}={selector[INDEX]}")) == {f"{NAME}-0"}


def test_each_of_its_hosts_lets_itself_be_drained_and_it_comes_back_whole(rack):
    for pod, node in engines(rack).items():
        try:
            rack.kubectl("drain", node, f"--pod-selector={OURS}", "--delete-emptydir-data", "--timeout=60s")
        finally:
            rack.kubectl("uncordon", node)
        until(lambda pod=pod, node=node: engines(rack).get(pod) == node, "it did not come back to its host")
        until(lambda: len(engines(rack)) == GROUP.hosts, "the replica is not whole")
    assert not rack.failures("groups")
