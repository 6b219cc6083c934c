"""The pickers' pods."""

import hashlib
import json
from typing import Any

from components.base import PART_OF, Manifest
from components.base.pods import as_nobody, shut_in
from components.llm_d.definitions import POOL_GROUP
from components.llm_d.objects import ACCOUNT, FILE, PICK_PORT, PICKERS, labels, named
from rackwright.site.catalog import Image
from rackwright.site.models import Model

HEALTH_PORT, METRICS_PORT = 9003, 9090
USER = 65532  # the image's own
DRAIN_S, END_S = 300, 15  # answers pass through a picker: it stays for as long as an engine lets requests finish
FOLDER = "/etc/picker"


def stateful_set(model: Model, *, image: Image, configuration: dict[str, Any], engines_in: str) -> Manifest:
    """Two pickers with names that last, so that every proxy asks the same one first."""
    digest = hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()[:16]
    template = {
        "metadata": {"labels": labels(model) | PART_OF, "annotations": {"rackwright/configuration": digest}},
        "spec": _pod(model, image, engines_in),
    }
    spec = {
        "replicas": PICKERS,
        "serviceName": model.name,
        "selector": {"matchLabels": labels(model)},
        "podManagementPolicy": "Parallel",
        "template": template,
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": named(model), "spec": spec}


def arguments(model: Model, engines_in: str) -> list[str]:
    """Flags of the picker; policies keep everyone but the gateway and Prometheus out, so neither port is encrypted."""
    return [*of_pool(model.name, engines_in), f"--config-file={FOLDER}/{FILE}"]


def of_pool(pool: str, namespace: str) -> list[str]:
    """What a picker is told of the replicas that it chooses among, and of itself."""
    return [
        f"--pool-name={pool}",
        f"--pool-namespace={namespace}",
        f"--pool-group={POOL_GROUP}",
        *common_arguments(PICK_PORT, HEALTH_PORT, METRICS_PORT),
    ]


def common_arguments(pick_port: int, health_port: int, metrics_port: int) -> list[str]:
    """What a picker is told wherever it finds its replicas."""
    return [
        f"--grpc-port={pick_port}",
        f"--grpc-health-port={health_port}",
        f"--metrics-port={metrics_port}",
        "--secure-serving=false",
        "--metrics-endpoint-auth=false",
        "--allow-experimental-plugins=true",  # priority-holdback-policy is one
        "--enable-pprof=false",
        "--tracing=false",
        f"--drain-timeout={DRAIN_S}s",
        "--zap-encoder=json",
    ]


def _pod(model: Model, image: Image, engines_in: str) -> dict[str, Any]:
    return {
        "serviceAccountName": ACCOUNT,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": DRAIN_S + END_S,
        "securityContext": as_nobody(USER),
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": labels(model)},
                "nodeTaintsPolicy": "Honor",  # nodes that are kept for others do not count: both may share a lone one
            }
        ],
        "containers": [_picker(image, arguments(model, engines_in))],
        "volumes": [{"name": "configuration", "configMap": {"name": model.name}}],
    }


def _picker(image: Image, words: list[str]) -> dict[str, Any]:
    mounts = [{"name": "configuration", "mountPath": FOLDER, "readOnly": True}]
    return container(image, words) | {"volumeMounts": mounts}


def container(image: Image, words: list[str]) -> dict[str, Any]:
    """A picker, told these words."""
    asked = {"grpc": {"port": HEALTH_PORT, "service": "envoy.service.ext_proc.v3.ExternalProcessor"}}
    return {
        "name": "picker",
        "image": image.reference,
        "command": ["/app/epp", *words],
        "ports": [
            {"name": "grpc", "containerPort": PICK_PORT},
            {"name": "health", "containerPort": HEALTH_PORT},
            {"name": "metrics", "containerPort": METRICS_PORT},
        ],
        # 0.5 to 1 processor for a request a second with prompts of 100,000 tokens (llm-d-router, docs/operations.md).
        "resources": {"requests": {"cpu": "2", "memory": "2Gi"}, "limits": {"memory": "6Gi"}},
        "securityContext": shut_in(),
        "startupProbe": asked | {"periodSeconds": 2, "failureThreshold": 60},
        "readinessProbe": asked | {"periodSeconds": 2, "failureThreshold": 2},
        "livenessProbe": {"tcpSocket": {"port": "health"}, "periodSeconds": 10, "failureThreshold": 6},
    }
