"""Pools on a real API server, scheduler and job controller: who is let in, who waits, and who is ended."""

import copy
import json
import re
from pathlib import Path

import pytest
import yaml
from waiting import until

from components.agents.component import manifests as agents_manifests
from components.base.component import namespace
from components.base.network import pods_in, to_peers
from components.training.component import manifests as training_manifests
from rackwright.errors import Refusal
from rackwright.site.agents import Agents
from rackwright.site.training import Training

ROOT = Path(__file__).resolve().parents[2]
TOOLS, BOXED, JOBS = "agents", "boxed-tools", "training"  # the first and last are those of the documents
DRIVER = {"key": "test/pools", "effect": "NoSchedule"}  # keeps other tests' pods off these nodes
INSIDE = ["10.30.0.0/24", "10.44.0.0/16"]
WAITING = 6


def template(page: str) -> dict:
    """The job that a page shows."""
    text = (ROOT / "docs" / page).read_text()
    (found,) = re.findall(r"```yaml\n(apiVersion: batch/v1\n.*?)```", text, re.DOTALL)
    return yaml.safe_load(found)


def node(name, *, gpus=0, taints=(), **labels):
    room = {"cpu": "4", "memory": "16Gi", "pods": "20", "ephemeral-storage": "100Gi"}
    room |= {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name} | {f"rackwright/{key}": "true" for key in labels},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "spec": {"taints": list(taints)},
        "status": {"allocatable": room, "capacity": room},
    }


def kept(role, effect="NoSchedule"):
    return {"key": f"rackwright/{role}", "effect": effect}


@pytest.fixture(scope="module")
def pools(control_plane):
    """Namespaces with everything that is declared for them, and a node of each kind."""
    way = to_peers([pods_in("gateway")], 8443)
    agents = Agents(waiting=WAITING, longest_s=600, tool_cores=2, tool_memory_gib=4)
    boxed = Agents(runtime_class="gvisor")
    of = {
        TOOLS: agents_manifests(TOOLS, agents, to_gateway=way, inside=INSIDE),
        BOXED: named(agents_manifests(BOXED, boxed, to_gateway=way, inside=INSIDE)),
        JOBS: training_manifests(JOBS, Training(waiting=3), reaching=[way], inside=INSIDE),
    }
    nodes = [
        node("pool-agents", taints=[kept("agents")], agents=True),
        node("pool-gpu", gpus=8, taints=[DRIVER], inference=True),
        node("pool-train", gpus=8, taints=[kept("training", "PreferNoSchedule")], training=True, inference=True),
    ]
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "gvisor"},
        "handler": "runsc",
    }
    control_plane.apply([runtime, *nodes])
    for space, manifests in of.items():
        level = "baseline" if space == JOBS else "restricted"
        control_plane.apply([namespace(space, level)])
        for each in manifests:
            where = [] if is_of_the_cluster(each) else ["--namespace", space]
            control_plane.kubectl("create", "--validate=strict", *where, "--filename=-", given=json.dumps(each))
        until(lambda at=space: is_judged(control_plane, at), f"the policies of {space}")
    yield control_plane
    for space in of:
        control_plane.kubectl.delete("namespace", space)
    for each in nodes:
        control_plane.kubectl.delete("node", each["metadata"]["name"])
    for manifests in of.values():
        for each in filter(is_of_the_cluster, manifests):
            control_plane.kubectl.delete(each["kind"], each["metadata"]["name"])


def is_of_the_cluster(manifest):
    return manifest["kind"].startswith(("ValidatingAdmissionPolicy", "PriorityClass"))


def named(manifests):
    """The same for a second namespace: under other names, and without the class that is there already."""
    text = json.dumps([each for each in manifests if each["kind"] != "PriorityClass"])
    return json.loads(re.sub(r"rackwright-agents-(pods|jobs)", r"boxed-\1", text))


def is_judged(control_plane, space):
    """Policies are heard of a moment after they are made; a pod that nothing is right about is refused by them."""
    bare = {"metadata": {"generateName": "bare-"}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    sound = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    strict = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    bare["spec"] |= {"securityContext": sound}
    bare["spec"]["containers"][0]["securityContext"] = strict
    return "ValidatingAdmissionPolicy" in said(control_plane, space, bare)


def said(control_plane, space, pod) -> str:
    """What the API server says of a pod; nothing where it takes it."""
    whole = {"apiVersion": "v1", "kind": "Pod", **pod}
    try:
        control_plane.kubectl("create", "--namespace", space, "--dry-run=server", "-f", "-", given=json.dumps(whole))
    except Refusal as refusal:
        return refusal.what
    return ""


def pod_of(page: str) -> dict:
    return {"metadata": {"generateName": "one-"}, "spec": template(page)["spec"]["template"]["spec"]}


def tool(**spec) -> dict:
    pod = pod_of("agents.md")
    return pod | {"spec": {key: value for key, value in (pod["spec"] | spec).items() if value is not None}}


def container(**fields) -> dict:
    (first,) = pod_of("agents.md")["spec"]["containers"]
    return first | fields


def with_rights(**rights) -> dict:
    return container(securityContext=container()["securityContext"] | rights)


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


def test_the_api_server_understands_every_demand(pools):
    """It takes a policy that it does not understand, and says so in its status alone."""
    policies = until(lambda: ours(pools), "the policies are looked at")
    assert [each["status"].get("typeChecking", {}) for each in policies] == [{}] * 5


def ours(pools):
    found = pools.kubectl.get("validatingadmissionpolicies")
    found = [each for each in found if each["metadata"]["name"].startswith(("rackwright-", "boxed-"))]
    return found if len(found) == 5 and all("observedGeneration" in each.get("status", {}) for each in found) else None


def test_a_tool_as_the_page_shows_it_is_let_in(pools):
    assert said(pools, TOOLS, tool()) == ""


def test_a_tool_runs_in_the_sandbox_that_the_site_names(pools):
    assert "write runtimeClassName: gvisor" in said(pools, BOXED, tool())
    written = [with_rights(readOnlyRootFilesystem=False)]
    assert said(pools, BOXED, tool(runtimeClassName="gvisor", containers=written)) == ""


def job(page, name, *, of_pod=None, **spec):
    made = copy.deepcopy(template(page))
    made["metadata"] = {"name": name, "namespace": made["metadata"]["namespace"]}
    made["spec"] |= spec
    made["spec"]["template"]["spec"] |= of_pod or {}
    made["spec"] = {key: value for key, value in made["spec"].items() if value is not None}
    return made


def create(pools, manifest):
    pools.kubectl("create", "--filename=-", given=json.dumps(manifest))


def pods(pools, space, name):
    return pools.kubectl.get("pods", namespace=space, labels=f"batch.kubernetes.io/job-name={name}")


def places(pools, space, name):
    return [each["spec"].get("nodeName", "") for each in pods(pools, space, name)]


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


def alone(pools, space, name, pod):
    """A pod of no job's: what plays the kubelet ends those at once."""
    metadata = {"name": name, "namespace": space, "labels": {"batch.kubernetes.io/job-name": name}}
    create(pools, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod["spec"]})


def end(pools, space, *names):
    pools.kubectl("delete", "pods", *names, "-n", space, "--ignore-not-found", "--force", "--grace-period=0")


def test_as_many_tools_run_as_there_is_room_for_and_the_next_when_one_ends(pools):
    """Two threads each on a node of four."""
    names = [f"queue-{number}" for number in range(3)]
    two = tool(containers=[container(resources={"limits": {"cpu": "2", "memory": "1Gi"}})])
    try:
        for name in names[:2]:
            alone(pools, TOOLS, name, two)
            until(lambda at=name: places(pools, TOOLS, at) == ["pool-agents"], f"{name} on the node for agents")
        alone(pools, TOOLS, names[2], two)
        until(lambda: waits_for_room(pools, TOOLS, names[2]), "the third waits")
        end(pools, TOOLS, names[0])
        until(lambda: places(pools, TOOLS, names[2]) == ["pool-agents"], "the third in the place of the first")
    finally:
        end(pools, TOOLS, *names)


def waits_for_room(pools, space, name):
    for pod in pods(pools, space, name):
        for each in pod["status"].get("conditions", []):
            if each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable":
                return not pod["spec"].get("nodeName")
    return False


def test_more_than_may_wait_are_refused(pools):
    names = [f"full-{number}" for number in range(WAITING)]
    try:
        for name in names:
            create(pools, job("agents.md", name))
        with pytest.raises(Refusal, match="exceeded quota: tools"):
            create(pools, job("agents.md", "one-too-many"))
    finally:
        for name in names:
            pools.kubectl.delete("job", name, namespace=TOOLS)


def test_a_tool_that_runs_away_is_ended(pools):
    never = {"nodeSelector": {"rackwright/agents": "true", "test/nowhere": "true"}}
    create(pools, job("agents.md", "runaway", activeDeadlineSeconds=1, of_pod=never))
    try:
        pools.kubectl.wait_for("job/runaway", condition="Failed", namespace=TOOLS, seconds=120)
        (state,) = pools.kubectl.get("jobs", namespace=TOOLS)
        assert "DeadlineExceeded" in {each.get("reason") for each in state["status"]["conditions"]}
        until(lambda: not pods(pools, TOOLS, "runaway"), "its pod is gone")
    finally:
        pools.kubectl.delete("job", "runaway", namespace=TOOLS)


def of_gpus(gpus):
    pod = pod_of("training.md")
    limits = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": str(gpus)}
    (first,) = pod["spec"]["containers"]
    return pod | {"spec": pod["spec"] | {"containers": [first | {"resources": {"limits": limits}}]}}


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


def model_pod(pools):
    return json.loads(pools.kubectl("get", "pod", "pool-model", "--output=json"))


def place_of_model(pools):
    return model_pod(pools)["spec"].get("nodeName")


def is_unplaced(pools):
    conditions = model_pod(pools)["status"].get("conditions", [])
    return any(each.get("reason") == "Unschedulable" for each in conditions)


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
