"""The vector store: Qdrant, in cluster mode from the first day, so that it can grow without a copy."""

from typing import Any

import pulumi

from components.base import Chart, Component, Manifest, edition
from components.base.network import (
    from_peers,
    labelled_namespaces,
    names,
    neighbours,
    policy,
    scrapes,
    to_peers,
)
from rackwright.site.vectors import Vectors, VectorsInPhase

HTTP_PORT, GRPC_PORT, PEER_PORT = 6333, 6334, 6335
KEYS = "qdrant-keys"
ACCESS = "rackwright/uses-qdrant"  # a namespace with this label set to "true" may reach the store


def configuration(vectors: Vectors, spread: VectorsInPhase) -> dict[str, Any]:
    """Qdrant's own settings; a collection may say otherwise when it is created."""
    return {
        "cluster": {"enabled": True, "p2p": {"port": PEER_PORT}},
        "service": {
            "enable_tls": False,  # inside the cluster, where policies keep others out
            "enable_snapshot_url_recovery": False,  # else whoever has a key makes it call any address
            "enforce_internal_auth": spread.replicas > 1,  # nodes show each other the key, too
            "jwt_rbac": True,  # applications' key is a token, bound to the switch that pauses their writes
        },
        "storage": {
            "performance": {  # stated, since a container without a processor limit sees the whole host
                "max_search_threads": vectors.cores,
                "optimizer_cpu_budget": max(1, vectors.cores // 2),
            },
            "hnsw_index": {"m": 16, "ef_construct": 128, "max_indexing_threads": min(16, max(1, vectors.cores // 2))},
            "collection": {
                "replication_factor": spread.replication_factor,
                # Half of the copies, rounded up: with two of them, writes go on while either's node is away.
                "write_consistency_factor": (spread.replication_factor + 1) // 2,
                "shard_number": vectors.shard_number,  # fixed for good, so that nodes may come later
                # A quarter of the memory in the path of a search; originals stay on disk, for rescoring.
                "quantization": {"scalar": {"type": "int8", "quantile": 0.99, "memory": "pinned"}},
            },
        },
        "telemetry_disabled": True,
    }


def values(vectors: Vectors, spread: VectorsInPhase, scrape_interval_s: int) -> dict[str, Any]:
    """What the chart is told."""
    memory = f"{vectors.memory_gib}Gi"
    return {
        "replicaCount": spread.replicas,
        "image": {"useUnprivilegedImage": True},
        "updateVolumeFsOwnership": False,  # by root, which the namespace refuses; fsGroup does it
        "env": [_key("API_KEY", "api-key"), _key("READ_ONLY_API_KEY", "read-only-api-key")],
        "config": configuration(vectors, spread),
        "resources": {"requests": {"cpu": str(vectors.cores), "memory": memory}, "limits": {"memory": memory}},
        "podSecurityContext": {
            "fsGroup": 3000,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containerSecurityContext": {"capabilities": {"drop": ["ALL"]}},
        "persistence": _volume(vectors, vectors.size_gb),
        "snapshotPersistence": {"enabled": True} | _volume(vectors, vectors.snapshot_size_gb or vectors.size_gb),
        # One node alone must let itself be drained; of several, one at a time.
        "podDisruptionBudget": {"enabled": spread.replicas > 1, "maxUnavailable": 1},
        "affinity": _one_a_host() if spread.replicas > 1 else {},
        "metrics": {
            "serviceMonitor": {
                "enabled": True,
                "scrapeInterval": f"{scrape_interval_s}s",
                "scrapeTimeout": f"{min(10, scrape_interval_s)}s",
                "authorization": {"type": "Bearer", "credentials": {"name": KEYS, "key": "read-only-api-key"}},
            },
        },
    }


def keys(api_key: Any, read_only_api_key: Any, application_key: Any) -> Manifest:
    """The store's keys, which its pods and Prometheus read by name, and the one that is for applications."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": KEYS},
        "stringData": {
            "api-key": api_key,
            "read-only-api-key": read_only_api_key,
            "application-key": application_key,
        },
    }


class Qdrant(Component):
    """The vector store with its keys, volumes and metrics."""

    def __init__(
        self,
        name: str,
        vectors: Vectors,
        *,
        chart: Chart,
        spread: VectorsInPhase,
        api_key: pulumi.Input[str],
        read_only_api_key: pulumi.Input[str],
        application_key: pulumi.Input[str],
        scrape_interval_s: int,
        volumes: pulumi.Resource,
        monitors: pulumi.Resource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts, after=[volumes])
        peers = [neighbours()]
        clients = from_peers([labelled_namespaces(ACCESS)], HTTP_PORT, GRPC_PORT)
        ways = [clients, scrapes(HTTP_PORT), from_peers(peers, PEER_PORT)]
        self.add(policy(name, ingress=ways, egress=[names(), to_peers(peers, PEER_PORT)]))
        secret = self.add(keys(api_key, read_only_api_key, application_key))
        told = values(vectors, spread, scrape_interval_s)
        told["podAnnotations"] = {"rackwright/keys": edition(api_key, read_only_api_key)}
        self.release(chart, told, after=[monitors, secret])
        host = f"qdrant.{name}.svc"
        addresses = {"http": f"http://{host}:{HTTP_PORT}", "grpc": f"{host}:{GRPC_PORT}"}
        self.reached = addresses | {"secret": f"{name}/{KEYS}", "namespace_label": f"{ACCESS}=true"}
        self.register_outputs(self.reached)


def _key(setting: str, key: str) -> dict[str, Any]:
    return {"name": f"QDRANT__SERVICE__{setting}", "valueFrom": {"secretKeyRef": {"name": KEYS, "key": key}}}


def _volume(vectors: Vectors, size_gb: int) -> dict[str, Any]:
    return {"storageClassName": vectors.storage_class, "size": f"{size_gb}G"}


def _one_a_host() -> dict[str, Any]:
    """Nodes never share a host: spreading evenly would allow it as soon as there are fewer hosts than nodes.

    On which hosts they may be is the storage driver's say: it tells the scheduler where volumes of this class fit.
    """
    pods = {"app.kubernetes.io/name": "qdrant", "app.kubernetes.io/instance": "qdrant"}
    apart = {"labelSelector": {"matchLabels": pods}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
