"""A real API server, scheduler and job controller with everything that is declared for the pools."""

import json
import re

import pytest
from pool_jobs import BOXED, JOBS, TOOLS, WAITING, said
from waiting import until

from components.agents.component import manifests as agents_manifests
from components.base.component import namespace
from components.base.network import pods_in, to_peers
from components.training.component import manifests as training_manifests
from rackwright.site.agents import Agents
from rackwright.site.training import Training

DRIVER = {"key": "test/pools", "effect": "NoSchedule"}  # keeps other tests' pods off these nodes
INSIDE = ["10.30.0.0/24", "10.44.0.0/16"]


@pytest.fixture(scope="session")
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
