"""Checks of nodes, GPUs and the GPU operator, each made to fail on a real control plane."""

from pathlib import Path

import pytest

from rackwright.checks.findings import Outcome
from rackwright.checks.machines import gpus_are_allocatable, nodes_are_kept
from rackwright.checks.objects import Objects
from rackwright.sandbox.nodes import nodes
from rackwright.site.catalog import Catalog
from rackwright.site.gpu_resources import offered
from rackwright.site.site import Site

NODE = "ws-01"
SITE = Path(__file__).resolve().parents[2] / "inventory" / "workstation"


def test_a_cluster_policy_that_is_not_ready_is_told(platform):
    with (
        platform.without("stage", "cluster-policy-is-ready"),
        platform.changed("clusterpolicy", "cluster-policy", "", {"status": {"state": "notReady"}}, "status"),
    ):
        (fault,) = platform.failures("gpu operator")
    assert "notReady" in fault.what


def test_the_rehearsed_platform_passes_every_check_that_can_be_seen(platform):
    failed = [each for each in platform.report.verdict.checks if each.outcome is Outcome.FAILED]
    assert not failed
    assert platform.report.succeeded


def test_a_host_that_did_not_join_is_named(platform):
    other = platform.site.hosts[0].model_copy(update={"name": "ws-02"})
    site = platform.site.model_copy(update={"hosts": (*platform.site.hosts, other)})
    (fault,) = platform.failures("nodes", site)
    assert fault.where == "Node ws-02"
    assert "not in the cluster" in fault.what


def test_a_cordoned_node_is_named(platform):
    with platform.changed("node", NODE, "", {"spec": {"unschedulable": True}}):
        (fault,) = platform.failures("nodes")
    assert "cordoned" in fault.what


def test_a_stranger_among_the_nodes_is_named(platform):
    shut = {"taints": [{"key": "stranger", "effect": "NoSchedule"}]}  # no DaemonSet leaves a pod on it
    stranger = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "stranger"}, "spec": shut}
    with platform.added(stranger):
        faults = platform.failures("nodes")
    assert [each.where for each in faults] == ["Node stranger"]


def test_a_gpu_that_is_gone_is_missed(platform):
    with platform.changed("node", NODE, "", {"status": {"allocatable": {"nvidia.com/gpu": "1"}}}, "status"):
        (fault,) = platform.failures("gpus")
    assert "offers 1 nvidia.com/gpu, the site says 2 nvidia.com/gpu" in fault.what


@pytest.mark.parametrize(
    ("sharing", "mig", "wanted"),
    [
        ({"time_slices": 4}, None, {"nvidia.com/gpu": 8}),
        ({"mig_strategy": "single"}, "all-1g.24gb", {"nvidia.com/gpu": 8}),
        ({"mig_strategy": "mixed"}, "all-balanced", {"nvidia.com/mig-1g.24gb": 4, "nvidia.com/mig-2g.48gb": 2}),
    ],
)
def test_shared_gpus_are_missed_where_they_are_offered_whole(platform, sharing, mig, wanted):
    host = platform.site.hosts[0]
    gpus = host.gpus.model_copy(update={"mig": mig})
    shared = platform.site.model_copy(
        update={
            "gpu": platform.site.gpu.model_copy(update=sharing),
            "hosts": (host.model_copy(update={"gpus": gpus}),),
        }
    )
    assert offered(gpus, shared.gpu) == wanted
    (fault,) = platform.failures("gpus", shared)
    assert "offers 2 nvidia.com/gpu" in fault.what
    allocatable = {name: str(count) for name, count in wanted.items()}
    node = {"kind": "Node", "metadata": {"name": NODE}, "status": {"allocatable": allocatable}}
    (finding,) = gpus_are_allocatable(Objects([node]), shared, 1)
    assert finding.outcome is Outcome.PASSED


def test_a_server_of_phase_1_that_is_kept_for_something_is_told():
    (server,) = shown = nodes(Site.load(SITE), 1, Catalog.load())
    assert not [each for each in nodes_are_kept(Objects(shown), Site.load(SITE), 1) if each.outcome is Outcome.FAILED]
    server["spec"]["taints"] = [{"key": "rackwright/agents", "effect": "NoSchedule"}]
    (fault,) = nodes_are_kept(Objects(shown), Site.load(SITE), 1)
    assert (fault.where, fault.outcome) == (f"Node {NODE}", Outcome.FAILED)
    assert "rackwright/agents:NoSchedule-" in fault.what


def test_a_node_without_the_taint_of_its_role_is_told():
    """Of a rack of phase 2, as it would be shown: whoever lost a taint takes any pod."""
    rack = Site.load(SITE.parent / "lab")
    shown = nodes(rack, 2, Catalog.load())
    assert not [each for each in nodes_are_kept(Objects(shown), rack, 2) if each.outcome is Outcome.FAILED]
    bare = next(each for each in shown if each["metadata"]["name"] == "agents-01")
    bare["spec"]["taints"] = []
    bare["metadata"]["labels"]["rackwright/inference"] = "true"
    (fault,) = [each for each in nodes_are_kept(Objects(shown), rack, 2) if each.outcome is Outcome.FAILED]
    assert fault.where == "Node agents-01"
    assert "rackwright/inference-, rackwright/agents:NoSchedule" in fault.what


def test_a_missing_cluster_policy_is_missed(platform):
    with platform.without("clusterpolicy", "cluster-policy"):
        (fault,) = platform.failures("gpu operator")
    assert fault.where == "ClusterPolicy"
