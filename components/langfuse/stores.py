"""ClickHouse and Valkey, one pod each.

The chart's own ClickHouse comes by an operator that calls itself alpha, and wants three Keepers beside one server. One
server without a cluster needs neither: what is lost with its node is a view of traces whose originals are objects.
"""

from typing import Any

from components.base import PART_OF, Manifest
from rackwright.site.catalog import Image
from rackwright.site.langfuse import Langfuse
from rackwright.site.volumes import LANGFUSE_QUEUE_GB

CLICKHOUSE, VALKEY = "clickhouse", "valkey"
CLICKHOUSE_PORT, CLICKHOUSE_NATIVE_PORT, VALKEY_PORT = 8123, 9000, 6379
FILE = "rackwright.xml"
KEYS = "langfuse-keys"  # the Secret with everything that Langfuse and its stores are opened by
CLICKHOUSE_USER, VALKEY_USER = 101, 1000  # of the images, and of the chart that Langfuse runs Valkey by
# ClickHouse's own diaries of itself grow until the volume is full; nobody reads them here.
DIARIES = (
    "asynchronous_metric_log", "latency_log", "metric_log", "opentelemetry_span_log", "part_log",
    "processors_profile_log", "query_log", "query_thread_log", "query_views_log", "text_log", "trace_log",
)  # fmt: skip


def configuration() -> Manifest:
    """What ClickHouse is told beside its own file."""
    removed = "".join(f'<{each} remove="1"/>' for each in DIARIES)
    settings = f"<clickhouse><timezone>UTC</timezone><logger><console>1</console></logger>{removed}</clickhouse>\n"
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _named(CLICKHOUSE),
        "data": {FILE: settings},
    }


def clickhouse(langfuse: Langfuse, *, image: Image, version: Any) -> Manifest:
    """The server for traces."""
    size = {"cpu": str(langfuse.cores), "memory": f"{langfuse.memory_gib}Gi"}
    probe = {"httpGet": {"path": "/ping", "port": "http"}}
    container = {
        "name": CLICKHOUSE,
        "image": image.reference,
        "env": [
            {"name": "CLICKHOUSE_DB", "value": "langfuse"},
            {"name": "CLICKHOUSE_USER", "value": "langfuse"},
            _secret("CLICKHOUSE_PASSWORD", CLICKHOUSE),
        ],
        "ports": [
            {"name": "http", "containerPort": CLICKHOUSE_PORT},
            {"name": "native", "containerPort": CLICKHOUSE_NATIVE_PORT},
        ],
        "startupProbe": probe | {"periodSeconds": 5, "failureThreshold": 120},
        "readinessProbe": probe | {"periodSeconds": 10, "timeoutSeconds": 5},
        "livenessProbe": probe | {"periodSeconds": 20, "timeoutSeconds": 10, "failureThreshold": 6},
        "resources": {"requests": size, "limits": {"memory": size["memory"]}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [
            {"name": "data", "mountPath": "/var/lib/clickhouse"},
            {
                "name": "settings",
                "mountPath": f"/etc/clickhouse-server/config.d/{FILE}",
                "subPath": FILE,
            },
        ],
    }
    pod = {"containers": [container], "volumes": [{"name": "settings", "configMap": {"name": CLICKHOUSE}}]}
    return _store(CLICKHOUSE, pod, user=CLICKHOUSE_USER, size_gb=langfuse.size_gb, langfuse=langfuse, version=version)


def valkey(langfuse: Langfuse, *, image: Image, version: Any) -> Manifest:
    """The queue between Langfuse's two programs; it forgets nothing to make room, for jobs would be lost."""
    probe = {"tcpSocket": {"port": "valkey"}}
    arguments = ["--requirepass", "$(PASSWORD)", "--dir", "/data", "--appendonly", "yes"]
    container = {
        "name": VALKEY,
        "image": image.reference,
        "args": ["valkey-server", *arguments, "--maxmemory", "1gb", "--maxmemory-policy", "noeviction"],
        "env": [_secret("PASSWORD", VALKEY)],
        "ports": [{"name": "valkey", "containerPort": VALKEY_PORT}],
        "readinessProbe": probe | {"periodSeconds": 10},
        "livenessProbe": probe | {"periodSeconds": 20, "failureThreshold": 6},
        "resources": {"requests": {"cpu": "250m", "memory": "2Gi"}, "limits": {"memory": "2Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    pod = {"containers": [container]}
    return _store(VALKEY, pod, user=VALKEY_USER, size_gb=LANGFUSE_QUEUE_GB, langfuse=langfuse, version=version)


def services() -> list[Manifest]:
    """The stores' names."""
    clickhouse = [("http", CLICKHOUSE_PORT), ("native", CLICKHOUSE_NATIVE_PORT)]
    return [_service(CLICKHOUSE, clickhouse), _service(VALKEY, [(VALKEY, VALKEY_PORT)])]


def _store(name: str, pod: dict[str, Any], *, user: int, size_gb: int, langfuse: Langfuse, version: Any) -> Manifest:
    security = {"runAsNonRoot": True, "runAsUser": user, "runAsGroup": user, "fsGroup": user}
    pod = pod | {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": security | {"seccompProfile": {"type": "RuntimeDefault"}},
        "terminationGracePeriodSeconds": 120,
    }
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": langfuse.storage_class,
            "resources": {"requests": {"storage": f"{size_gb}G"}},
        },
    }
    labels = {"app.kubernetes.io/name": name}
    metadata = {"labels": labels | PART_OF, "annotations": {"rackwright/keys": version}}
    spec = {
        "serviceName": name,
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": metadata, "spec": pod},
        "volumeClaimTemplates": [claim],
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": _named(name), "spec": spec}


def _service(name: str, ports: list[tuple[str, int]]) -> Manifest:
    listed = [{"name": port, "port": number, "targetPort": port} for port, number in ports]
    spec = {"selector": {"app.kubernetes.io/name": name}, "ports": listed}
    return {"apiVersion": "v1", "kind": "Service", "metadata": _named(name), "spec": spec}


def _secret(variable: str, key: str) -> dict[str, Any]:
    return {"name": variable, "valueFrom": {"secretKeyRef": {"name": KEYS, "key": key}}}


def _named(name: str) -> dict[str, Any]:
    return {"name": name, "labels": {"app.kubernetes.io/name": name} | PART_OF}
