"""The objects of one served model."""

from collections.abc import Iterable
from typing import Any

from components.base import PART_OF, Manifest
from components.base.pods import as_nobody
from components.vllm.arguments import PORT, command, environment
from components.vllm.timing import LEAVE_S, STARTUP_PERIOD_S, grace_s, rollout_s, startup_s
from components.vllm.weights import TEMPORARY, VOLUME, Container, origins
from rackwright.site.catalog import Image
from rackwright.site.gpu import Gpu
from rackwright.site.gpu_resources import offered, requested
from rackwright.site.hosts import Host
from rackwright.site.models import Model
from rackwright.site.serving import Serving
from rackwright.site.sources import Nfs

USER = 2000  # no one on the host
LOADING_GIB = 8  # a shard of the weights in each worker's hands
SHARED = "/dev/shm"  # noqa: S108 - a volume of the pod's own


def spare_gpus(models: Iterable[tuple[Model, Serving]], hosts: Iterable[Host], gpu: Gpu) -> dict[str, int]:
    """By resource name, what the hosts offer and no replica takes."""
    spare: dict[str, int] = {}
    for host in hosts:
        for name, count in (offered(host.gpus, gpu) if host.gpus else {}).items():
            spare[name] = spare.get(name, 0) + count
    for model, serving in models:
        name = requested(model, gpu)
        spare[name] = spare.get(name, 0) - model.gpus * serving.replicas
    return spare


def labels(model: Model) -> dict[str, str]:
    """What tells the pods of one model from all others, for good: a selector cannot be changed."""
    return {"app.kubernetes.io/name": "vllm", "app.kubernetes.io/instance": model.name}


def from_origin(*kinds: str) -> dict[str, str]:
    """Labels of a pod that fetches from there, for the policies that let it."""
    return {f"rackwright/from-{kind}": "true" for kind in kinds}


def deployment(
    model: Model, serving: Serving, *, image: Image, before: list[Container], gpu: Gpu, spare: int
) -> Manifest:
    """The engine's pods."""
    spec = {
        "replicas": serving.replicas,
        "selector": {"matchLabels": labels(model)},
        "strategy": _strategy(model, serving, spare),
        "progressDeadlineSeconds": rollout_s(model),
        "template": template(model, before, engine(model, command(model, serving), image, gpu)),
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": named(model), "spec": spec}


def template(model: Model, before: list[Container], served_by: Container) -> dict[str, Any]:
    """What every pod of a model is made from."""
    return {
        "metadata": {"labels": labels(model) | PART_OF | from_origin(*origins(model))},
        "spec": _pod(model, before, served_by),
    }


def service(model: Model, pods: dict[str, str] | None = None) -> Manifest:
    """The pods' own addresses under one name, so that a proxy sees each and chooses; `pods` are their labels."""
    ports = [{"name": "http", "port": PORT, "targetPort": "http"}]
    spec = {"clusterIP": "None", "selector": pods or labels(model), "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": named(model), "spec": spec}


def claim(model: Model, storage_class: str) -> Manifest:
    """The volume for weights and compiled kernels; replicas on one node share it."""
    spec = wish(model, storage_class)
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": named(model), "spec": spec}


def wish(model: Model, storage_class: str) -> dict[str, Any]:
    """What a claim asks for: room for the weights and kernels, on a drive of the node's own."""
    return {
        "storageClassName": storage_class,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{model.volume_gib}Gi"}},
    }


def export(model: Model, source: Nfs) -> tuple[Manifest, Manifest]:
    """An NFS export as a volume and its claim: a pod held to `restricted` may not name it itself."""
    server, path = source.nfs.split(":", maxsplit=1)
    name = f"{model.name}-source"
    shape = {"accessModes": ["ReadOnlyMany"], "storageClassName": "", "volumeMode": "Filesystem"}
    volume = shape | {
        "capacity": {"storage": "1Gi"},  # wanted by the API, without meaning for NFS
        "persistentVolumeReclaimPolicy": "Retain",
        "mountOptions": ["ro", "nfsvers=4.2"],
        "nfs": {"server": server, "path": path, "readOnly": True},
    }
    wanted = shape | {"volumeName": name, "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": name, "labels": PART_OF}
    return (
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": volume},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": wanted},
    )


def monitor(model: Model, scrape_interval_s: int, pods: dict[str, str] | None = None) -> Manifest:
    """Where Prometheus finds the engine's metrics; `pods` are its pods' labels."""
    endpoints = [{"port": "http", "path": "/metrics", "interval": f"{scrape_interval_s}s"}]
    spec = {"selector": {"matchLabels": pods or labels(model)}, "podMetricsEndpoints": endpoints}
    return {"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": named(model), "spec": spec}


def named(model: Model) -> dict[str, Any]:
    """Metadata of an object that bears the model's name."""
    return {"name": model.name, "labels": labels(model) | PART_OF}


def _strategy(model: Model, serving: Serving, spare: int) -> dict[str, Any]:
    """A new pod needs its GPUs beside the old one's, or must take them from it."""
    if spare >= model.gpus:
        return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    if serving.replicas > 1:
        return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    return {"type": "Recreate"}


def _pod(model: Model, before: list[Container], served_by: Container) -> dict[str, Any]:
    volumes: list[dict[str, Any]] = [
        {"name": "models", "persistentVolumeClaim": {"claimName": model.name}},
        {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": f"{model.shm_gib}Gi"}},
        {"name": "temporary", "emptyDir": {"sizeLimit": "10Gi"}},
    ]
    if isinstance(model.source, Nfs):
        mounted = {"claimName": f"{model.name}-source", "readOnly": True}
        volumes.append({"name": "source", "persistentVolumeClaim": mounted})
    return {
        "serviceAccountName": "vllm",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,  # a Service named vllm would set VLLM_PORT to an address
        "terminationGracePeriodSeconds": grace_s(),
        "securityContext": as_nobody(USER, owns_volumes=True) | {"fsGroupChangePolicy": "OnRootMismatch"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "initContainers": before,
        "containers": [served_by],
        "volumes": volumes,
    }


def engine(model: Model, words: list[str], image: Image, gpu: Gpu, *, hosts: int = 1) -> Container:
    """The engine's container, started with a whole command line; of a part of a replica, one of so many hosts'."""
    devices = {requested(model, gpu): str(model.gpus)}
    # Shared memory is memory of the container, so memory_gib counts it.
    limit = {"memory": f"{model.memory_gib + LOADING_GIB * model.gpus}Gi"}
    return {
        "name": "vllm",
        "image": image.reference,
        "command": words,
        "env": [{"name": name, "value": value} for name, value in environment(model, hosts).items()],
        "ports": [{"name": "http", "containerPort": PORT}],
        "resources": {
            "requests": {"cpu": str(model.cores), "memory": f"{model.memory_gib}Gi"} | devices,
            "limits": limit | devices,
        },
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [
            {"name": "models", "mountPath": VOLUME},
            {"name": "shared-memory", "mountPath": SHARED},
            {"name": "temporary", "mountPath": TEMPORARY},
        ],
        "lifecycle": {"preStop": {"sleep": {"seconds": LEAVE_S}}},
        # The port opens when the weights are loaded: until then only this probe counts, and it has the time they take.
        "startupProbe": _probe(
            "/v1/models", period=STARTUP_PERIOD_S, timeout=5, failures=startup_s(model, hosts) // STARTUP_PERIOD_S
        ),
        "readinessProbe": _probe("/v1/models", period=5, timeout=5, failures=3),
        "livenessProbe": _probe("/health", period=10, timeout=10, failures=6),
    }


def _probe(path: str, *, period: int, timeout: int, failures: int) -> dict[str, Any]:
    asked = {"path": path, "port": "http"}
    return {"httpGet": asked, "periodSeconds": period, "timeoutSeconds": timeout, "failureThreshold": failures}
