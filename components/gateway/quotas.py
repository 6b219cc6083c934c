"""The service that counts tenants' tokens, for all proxies together: Envoy's own, with a store in memory beside it.

One pod. While it is away nobody is counted and nobody refused for tokens; when it comes back a minute begins anew. The
bounds on requests hold all the same, since each proxy has those by itself.
"""

import json
from collections.abc import Sequence
from typing import Any

from components.base import PART_OF, Manifest
from components.base.pods import as_nobody, shut_in
from components.gateway.tokens import DOMAIN, KEY, SERVICE, counted
from rackwright.site.catalog import Image
from rackwright.site.tenants import Tenant

PORT, HEALTH_PORT, METRICS_PORT, DEBUG_PORT = 8081, 8080, 9090, 6070
LABELS = {"app.kubernetes.io/name": "ratelimit", "app.kubernetes.io/instance": SERVICE}
USER = 65532  # nobody in particular: neither program writes anywhere but to its socket
ROOT, SOCKET = "/etc/quotas", "/run/counts/socket"
MEMORY_MIB = 64  # a count takes a hundred bytes and is forgotten after minutes


def address(namespace: str) -> str:
    """Where the proxies ask."""
    return f"{SERVICE}.{namespace}.svc.cluster.local:{PORT}"


def limits(tenants: Sequence[Tenant]) -> str:
    """The service's file: JSON, which it reads as the YAML that it wants."""
    each = [
        {
            "key": KEY,
            "value": tenant.name,
            "rate_limit": {"unit": "minute", "requests_per_unit": tenant.limits.tokens_per_minute},
        }
        for tenant in tenants
        if counted(tenant)
    ]
    return json.dumps({"domain": DOMAIN, "descriptors": each}, indent=1)


def environment() -> dict[str, str]:
    """What the service is told."""
    return {
        "BACKEND_TYPE": "redis",
        "REDIS_SOCKET_TYPE": "unix",
        "REDIS_URL": SOCKET,
        "RUNTIME_ROOT": ROOT,
        "RUNTIME_WATCH_ROOT": "false",  # another file is another pod
        "RUNTIME_IGNOREDOTFILES": "true",  # Kubernetes' own, beside the file
        "PORT": str(HEALTH_PORT),
        "GRPC_PORT": str(PORT),
        "DEBUG_HOST": "127.0.0.1",
        "DEBUG_PORT": str(DEBUG_PORT),
        "USE_STATSD": "false",
        "USE_PROMETHEUS": "true",
        "PROMETHEUS_ADDR": f":{METRICS_PORT}",
        "LOG_LEVEL": "warn",
    }


def store_command(socket: str = SOCKET) -> list[str]:
    """A store that keeps nothing and is reached by its neighbour alone."""
    return [
        "valkey-server",
        *("--port", "0"),
        *("--unixsocket", socket),
        *("--save", ""),
        *("--appendonly", "no"),
        *("--maxmemory", f"{MEMORY_MIB}mb"),
        *("--maxmemory-policy", "volatile-ttl"),
    ]


def configuration(tenants: Sequence[Tenant]) -> Manifest:
    """The limits, as the service finds them."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _named(), "data": {"tokens.yaml": limits(tenants)}}


def deployment(*, image: Image, store: Image, version: Any) -> Manifest:
    """The service and its store; other limits replace the pod."""
    pod = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": as_nobody(USER),
        "initContainers": [_store(store)],
        "containers": [_service(image)],
        "volumes": [
            {"name": "limits", "configMap": {"name": SERVICE}},
            {"name": "counts", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
        ],
    }
    template = {
        "metadata": {"labels": LABELS | PART_OF, "annotations": {"rackwright/configuration": version}},
        "spec": pod,
    }
    spec = {"replicas": 1, "selector": {"matchLabels": LABELS}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _named(), "spec": spec}


def service() -> Manifest:
    """The name that proxies look up."""
    spec = {"clusterIP": "None", "selector": LABELS, "ports": [{"name": "grpc", "port": PORT, "targetPort": "grpc"}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": _named(), "spec": spec}


def monitor(scrape_interval_s: int) -> Manifest:
    """Where Prometheus finds how much each tenant used and was refused."""
    endpoints = [{"port": "metrics", "interval": f"{scrape_interval_s}s"}]
    spec = {"selector": {"matchLabels": LABELS}, "podMetricsEndpoints": endpoints}
    return {"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": {"name": SERVICE}, "spec": spec}


def _named() -> dict[str, Any]:
    return {"name": SERVICE, "labels": LABELS | PART_OF}


def _store(image: Image) -> dict[str, Any]:
    """It starts first and ends last; the service gives up at once where it finds none."""
    there = {"exec": {"command": ["test", "-S", SOCKET]}, "periodSeconds": 1, "failureThreshold": 60}
    return {
        "name": "counts",
        "image": image.reference,
        "restartPolicy": "Always",
        "command": store_command(),
        "startupProbe": there,
        "volumeMounts": [{"name": "counts", "mountPath": SOCKET.rpartition("/")[0]}],
        **_bounds("10m", 2 * MEMORY_MIB),
    }


def _service(image: Image) -> dict[str, Any]:
    probe = {"httpGet": {"path": "/healthcheck", "port": "health"}, "periodSeconds": 5, "timeoutSeconds": 3}
    return {
        "name": SERVICE,
        "image": image.reference,
        "command": ["/bin/ratelimit"],
        "env": [{"name": name, "value": value} for name, value in environment().items()],
        "ports": [
            {"name": "grpc", "containerPort": PORT},
            {"name": "health", "containerPort": HEALTH_PORT},
            {"name": "metrics", "containerPort": METRICS_PORT},
        ],
        "readinessProbe": probe | {"failureThreshold": 2},
        "livenessProbe": probe | {"failureThreshold": 12},
        "volumeMounts": [
            {"name": "limits", "mountPath": f"{ROOT}/config", "readOnly": True},
            {"name": "counts", "mountPath": SOCKET.rpartition("/")[0]},
        ],
        **_bounds("100m", 128),
    }


def _bounds(cpu: str, memory_mib: int) -> dict[str, Any]:
    return {
        "resources": {"requests": {"cpu": cpu, "memory": "32Mi"}, "limits": {"memory": f"{memory_mib}Mi"}},
        "securityContext": shut_in(),
    }
