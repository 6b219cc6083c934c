"""What bounds the tools of one namespace: how many, how large, and who may start them."""

from components.base import Manifest
from rackwright.site.agents import Agents

RUNNER = "run-tools"
DISK_GIB = 10  # the most that one pod writes: its emptyDirs, its logs, its own layer
USUAL = {"cpu": "500m", "memory": "1Gi", "ephemeral-storage": "1Gi"}  # where a container says nothing


def quota(agents: Agents) -> Manifest:
    """How many tools may run or wait; what waits takes no more than its object.

    No sum of threads or memory: pods that wait count in a quota, and hosts which run nothing else bound what runs.
    """
    hard = {
        "count/jobs.batch": agents.waiting,
        "pods": agents.waiting,
        "persistentvolumeclaims": 0,  # what a tool leaves goes with it
        "services.loadbalancers": 0,
        "services.nodeports": 0,
    }
    return _core("ResourceQuota", "tools", {"hard": {name: str(count) for name, count in hard.items()}})


def limits(agents: Agents) -> Manifest:
    """The size of one tool: the most of a pod, and what a container gets that says nothing."""
    most = {
        "cpu": str(agents.tool_cores),
        "memory": f"{agents.tool_memory_gib}Gi",
        "ephemeral-storage": f"{DISK_GIB}Gi",
    }
    usual = {"type": "Container", "max": most, "default": USUAL, "defaultRequest": USUAL}
    return _core("LimitRange", "tools", {"limits": [usual, {"type": "Pod", "max": most}]})


def runner() -> Manifest:
    """What an application needs that starts tools; whoever owns it binds it: `kubectl create rolebinding`."""
    rules = [
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "get", "list", "watch", "delete"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "delete"]},
        {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
    ]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": RUNNER},
        "rules": rules,
    }


def _core(kind: str, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
