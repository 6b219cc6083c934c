"""A model whose replicas stand on several hosts: each with a volume of its own, on a drive of its node."""

from collections.abc import Iterable
from typing import Any

from components.base import PART_OF, Manifest
from components.vllm.arguments import command
from components.vllm.pod import engine, labels, named, template, wish
from components.vllm.weights import Container
from rackwright.site.catalog import Image
from rackwright.site.gpu import Gpu
from rackwright.site.gpu_resources import offered, requested
from rackwright.site.hosts import Host
from rackwright.site.models import Model
from rackwright.site.node_marks import PREFIX
from rackwright.site.serving import Serving
from rackwright.site.storage_classes import storage_class


def stateful_set(
    model: Model, serving: Serving, *, image: Image, before: list[Container], gpu: Gpu, counted: bool = False
) -> Manifest:
    """The engine's pods, replaced one by one in place: no rollout ever waits for a GPU beside those that it has.

    A replica keeps its volume, so a restart finds its weights; the price is that it comes back to its own host only.
    """
    made = template(model, before, engine(model, command(model, serving, routed=True, counted=counted), image, gpu))
    pod = made["spec"]
    claimed = "models"  # the name by which the containers mount it
    volumes = [volume for volume in pod["volumes"] if volume["name"] != claimed]
    placed = placement(model, labels(model)) | {"volumes": volumes}
    spec = {
        "replicas": serving.replicas,
        "serviceName": model.name,
        "selector": {"matchLabels": labels(model)},
        "podManagementPolicy": "Parallel",  # they do not know of each other
        "updateStrategy": {"type": "RollingUpdate"},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
        "volumeClaimTemplates": [
            {"metadata": {"name": claimed, "labels": labels(model)}, "spec": wish(model, storage_class("models"))}
        ],
        "template": made | {"spec": pod | placed},
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": named(model), "spec": spec}


def placement(model: Model, pods: dict[str, str]) -> dict[str, Any]:
    """Where a replica stands: on inference hosts, apart from those of its model, whose labels are `pods`."""
    return {
        "nodeSelector": {f"{PREFIX}/inference": "true"},
        "priorityClassName": priority_name(model.gpus),
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",  # other models may leave no room for an even spread
                "labelSelector": {"matchLabels": pods},
            }
        ],
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [_apart(pods)]}},
    }


def budget(
    model: Model, serving: Serving, hosts: Iterable[Host], gpu: Gpu, pods: dict[str, str] | None = None
) -> Manifest | None:
    """A drain may take what stands on one host and no more; None where all replicas may stand on one.

    What is drained waits for its own host, and so for its volume, until that is back: a narrower budget would let the
    first replica of a host go, and then hold the second for good.
    """
    name = requested(model, gpu)
    rooms = [offered(host.gpus, gpu).get(name, 0) if host.gpus else 0 for host in hosts]
    together = max(rooms, default=0) // model.gpus
    if together >= serving.replicas:
        return None
    spec = {"maxUnavailable": max(together, 1), "selector": {"matchLabels": pods or labels(model)}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": named(model), "spec": spec}


def priority_class(gpus: int) -> Manifest:
    """Larger replicas are placed first, and evict nobody: sizes that divide each other then always find room."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": priority_name(gpus), "labels": PART_OF},
        "value": 1000 + gpus,
        "preemptionPolicy": "Never",
        "description": f"Replicas of {gpus} GPUs, before smaller ones.",
    }


def priority_name(gpus: int) -> str:
    """The class of replicas of a size."""
    return f"{PREFIX}-replica-{gpus}"


def _apart(pods: dict[str, str]) -> dict[str, object]:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": pods}}
    return {"weight": 100, "podAffinityTerm": term}
