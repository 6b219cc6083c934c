"""Pods: every one ready, and for one that is not, why."""

from collections.abc import Iterator

from rackwright.checks.findings import Finding, failed, whole
from rackwright.checks.objects import Object, Objects, condition, name_of, namespace_of, spell

WAITING_WITHOUT_HARM = {"ContainerCreating", "PodInitializing"}


def pods_are_ready(objects: Objects) -> Iterator[Finding]:
    """Every pod of ours is Ready or has ended well, and every workload has all the pods that it wants."""
    pods = objects.ours("Pod")
    faults = [failed(spell(pod), f"is not ready: {why_not(pod)}", _cure(pod)) for pod in pods if not _is_well(pod)]
    faults += [fault for kind in ("Deployment", "StatefulSet", "DaemonSet") for fault in _workloads(objects, kind)]
    well = "were admitted and found a node; no container runs here" if objects.simulated else "are ready"
    yield from whole(faults, "cluster", f"{len(pods)} pods {well}")


def why_not(pod: Object) -> str:
    """Why a pod is not ready, in the words of who keeps it: the scheduler, the kubelet or its own container."""
    status = pod.get("status") or {}
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return str(scheduled.get("message") or "no node takes it")
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        state = container.get("state") or {}
        waiting, ended = state.get("waiting") or {}, state.get("terminated") or {}
        if waiting.get("reason") not in {None, *WAITING_WITHOUT_HARM}:
            return f"container {container['name']}: {waiting['reason']} {waiting.get('message', '')}".rstrip()
        if ended.get("exitCode"):
            return f"container {container['name']} ended with {ended['exitCode']}"
    return str(status.get("message") or condition(pod, "Ready").get("message") or f"its phase is {status.get('phase')}")


def _is_well(pod: Object) -> bool:
    succeeded = (pod.get("status") or {}).get("phase") == "Succeeded"
    return succeeded or condition(pod, "Ready").get("status") == "True"


def _workloads(objects: Objects, kind: str) -> Iterator[Finding]:
    for each in objects.ours(kind):
        status = each.get("status") or {}
        if kind == "DaemonSet":
            wanted, ready = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
        else:
            wanted, ready = each["spec"].get("replicas", 1), status.get("readyReplicas", 0)
        if ready < wanted:
            why = _why_no_pods(each)
            yield failed(
                spell(each),
                f"has {ready} of {wanted} pods ready{why}",
                f"kubectl -n {namespace_of(each)} describe {kind.lower()} {name_of(each)}",
            )


def _why_no_pods(workload: Object) -> str:
    """What keeps its controller from making pods at all, such as the namespace's Pod Security level or a quota."""
    failure = condition(workload, "ReplicaFailure")
    return f": {failure['message']}" if failure.get("message") else ""


def _cure(pod: Object) -> str:
    return f"kubectl -n {namespace_of(pod)} describe pod {name_of(pod)}"
