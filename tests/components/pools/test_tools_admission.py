"""Which tools are let into the pool for agents, by a real API server."""

import json
import re

import pytest
from pool_jobs import BOXED, TOOLS, container, create, job, said, tool, with_rights
from waiting import until

from rackwright.errors import Refusal

AGENTS = {"key": "rackwright/agents", "operator": "Exists"}
GPUS = {"limits": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}}
CLAIM = {"name": "device", "resourceClaimName": "gpu"}
DENIED = {
    "no selector": (tool(nodeSelector=None), "write nodeSelector rackwright/agents"),
    "a GPU node": (tool(nodeSelector={"rackwright/inference": "true"}), "write nodeSelector rackwright/agents"),
    "no toleration": (tool(tolerations=None), "tolerate rackwright/agents"),
    "every taint": (tool(tolerations=[AGENTS, {"operator": "Exists"}]), "tolerate nothing but"),
    "the taint of GPUs": (
        tool(tolerations=[AGENTS, {"key": "nvidia.com/gpu", "operator": "Exists"}]),
        "tolerate nothing",
    ),
    "a node by its name": (tool(nodeName="pool-gpu"), "leave nodeName out"),
    "a GPU": (tool(containers=[container(resources=GPUS)]), "ask for no GPU"),
    "a GPU at first": (tool(initContainers=[container(name="first", resources=GPUS)]), "ask for no GPU"),
    "a device": (tool(resourceClaims=[CLAIM]), "claim no devices"),
    "no deadline": (tool(activeDeadlineSeconds=None), "write activeDeadlineSeconds, at most 600"),
    "a long deadline": (tool(activeDeadlineSeconds=601), "write activeDeadlineSeconds, at most 600"),
    "a long end": (tool(terminationGracePeriodSeconds=31), "at most 30"),
    "the API's token": (tool(automountServiceAccountToken=None), "automountServiceAccountToken: false"),
    "the platform's rank": (tool(priorityClassName=None), "priorityClassName: rackwright-agents"),
    "a rank above": (tool(priorityClassName="system-cluster-critical"), "rackwright-agents"),
    "a file system to write": (tool(containers=[with_rights(readOnlyRootFilesystem=None)]), "readOnlyRootFilesystem"),
    "all rights": (tool(containers=[with_rights(privileged=True)]), "violates PodSecurity|privileged"),
    "root": (tool(securityContext={"seccompProfile": {"type": "RuntimeDefault"}}), "runAsNonRoot"),
    "the host's files": (tool(volumes=[{"name": "scratch", "hostPath": {"path": "/"}}]), "hostPath"),
    "the host's network": (tool(hostNetwork=True), "host namespaces"),
    "more memory": (tool(containers=[container(resources={"limits": {"memory": "5Gi"}})]), "maximum memory usage"),
    "more threads": (tool(containers=[container(resources={"limits": {"cpu": "3"}})]), "maximum cpu usage"),
}


@pytest.mark.parametrize("name", DENIED)
def test_a_tool_that_asks_for_it_is_denied(pools, name):
    pod, why = DENIED[name]
    assert re.search(why, said(pools, TOOLS, pod)), said(pools, TOOLS, pod)


def test_a_tool_as_the_page_shows_it_is_let_in(pools):
    assert said(pools, TOOLS, tool()) == ""


def test_a_tool_runs_in_the_sandbox_that_the_site_names(pools):
    assert "write runtimeClassName: gvisor" in said(pools, BOXED, tool())
    written = [with_rights(readOnlyRootFilesystem=False)]
    assert said(pools, BOXED, tool(runtimeClassName="gvisor", containers=written)) == ""


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"activeDeadlineSeconds": None}, "write activeDeadlineSeconds at the job too"),
        ({"activeDeadlineSeconds": 4000}, "write activeDeadlineSeconds at the job too"),
        ({"ttlSecondsAfterFinished": None}, "write ttlSecondsAfterFinished"),
        ({"ttlSecondsAfterFinished": 86400}, "write ttlSecondsAfterFinished"),
    ],
)
def test_a_job_without_an_end_is_denied(pools, changed, why):
    with pytest.raises(Refusal, match=why):
        create(pools, job("agents.md", "endless", **changed))


def test_a_deadline_is_not_put_off_afterwards(pools):
    create(pools, job("agents.md", "later"))
    try:
        patch = json.dumps({"spec": {"activeDeadlineSeconds": 90000}})
        with pytest.raises(Refusal, match="at the job too"):
            pools.kubectl("patch", "job", "later", "--namespace", TOOLS, "--type=merge", "--patch", patch)
    finally:
        pools.kubectl.delete("job", "later", namespace=TOOLS)


def test_the_api_server_understands_every_demand(pools):
    """It takes a policy that it does not understand, and says so in its status alone."""
    policies = until(lambda: ours(pools), "the policies are looked at")
    assert [each["status"].get("typeChecking", {}) for each in policies] == [{}] * 5


def ours(pools):
    found = pools.kubectl.get("validatingadmissionpolicies")
    found = [each for each in found if each["metadata"]["name"].startswith(("rackwright-", "boxed-"))]
    return found if len(found) == 5 and all("observedGeneration" in each.get("status", {}) for each in found) else None
