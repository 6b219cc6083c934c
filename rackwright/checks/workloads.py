"""Pods as they are declared: the templates of workloads, and pods that no workload made."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rackwright.checks.objects import Object, Objects, labels_of, namespace_of, spell

MADE_BY_WORKLOADS = {"ReplicaSet", "StatefulSet", "DaemonSet", "Job"}
KINDS = ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob")


@dataclass(frozen=True)
class Workload:
    """A kind of pod: who makes it, its labels, its specification."""

    object: Object
    labels: dict[str, str]
    spec: Object

    @property
    def where(self) -> str:
        """The maker as people name it."""
        return spell(self.object)

    @property
    def namespace(self) -> str:
        """Where its pods are."""
        return namespace_of(self.object)

    @property
    def containers(self) -> list[Object]:
        """All of its containers, those that run first included."""
        return [*(self.spec.get("initContainers") or []), *self.spec["containers"]]

    @property
    def ports(self) -> list[Object]:
        """The ports that its containers declare."""
        return [port for container in self.containers for port in container.get("ports") or []]


def workloads(objects: Objects, namespace: str | None = None) -> Iterator[Workload]:
    """Every kind of pod in the cluster, or in one namespace."""
    for kind in KINDS:
        for each in objects.all(kind, namespace):
            if not _owner(each, {"CronJob"}):
                yield _workload(each, _template(each))
    for pod in objects.all("Pod", namespace):
        if not _owner(pod, MADE_BY_WORKLOADS):
            yield Workload(pod, labels_of(pod), pod["spec"])


def our_workloads(objects: Objects) -> list[Workload]:
    """Those in namespaces that Rackwright made."""
    return [each for namespace in sorted(objects.our_namespaces) for each in workloads(objects, namespace)]


def pods_of(objects: Objects, workload: Workload) -> list[Object]:
    """The pods that a Deployment, StatefulSet or DaemonSet has now, by its selector's labels."""
    wanted = (workload.object["spec"].get("selector") or {}).get("matchLabels") or {}
    pods = objects.all("Pod", workload.namespace)
    return [pod for pod in pods if wanted and wanted.items() <= labels_of(pod).items()]


def _template(each: Object) -> Any:
    spec = each["spec"]["jobTemplate"]["spec"] if each["kind"] == "CronJob" else each["spec"]
    return spec["template"]


def _workload(each: Object, template: Any) -> Workload:
    return Workload(each, (template.get("metadata") or {}).get("labels") or {}, template["spec"])


def _owner(each: Object, kinds: set[str]) -> bool:
    return any(owner["kind"] in kinds for owner in each["metadata"].get("ownerReferences") or [])
