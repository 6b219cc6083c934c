"""The kinds of objects that operators work on: definitions of our own that take everything, and upstream's."""

import os
from pathlib import Path

from definitions import definitions
from kubernetes_objects import definition

from components.llm_d.definitions import definitions as of_pools

SPACE = "operator-tests"
UPSTREAM = os.environ.get("RACKWRIGHT_UPSTREAM")
OURS = [
    definition("ClusterPolicy", "clusterpolicies", "nvidia.com", "Cluster"),
    definition("Issuer", "issuers", "cert-manager.io"),
    definition("ClusterIssuer", "clusterissuers", "cert-manager.io", "Cluster"),
    definition("Certificate", "certificates", "cert-manager.io"),
    definition("Cluster", "clusters", "postgresql.cnpg.io"),
    definition("Database", "databases", "postgresql.cnpg.io"),
    definition("Prometheus", "prometheuses", "monitoring.coreos.com"),
    definition("Alertmanager", "alertmanagers", "monitoring.coreos.com"),
    definition("ServiceMonitor", "servicemonitors", "monitoring.coreos.com"),
    definition("LeaderWorkerSet", "leaderworkersets", "leaderworkerset.x-k8s.io"),
    definition("LLMInferenceService", "llminferenceservices", "serving.kserve.io", version="v1alpha2"),
    *of_pools(),  # of pools, as they are laid
]


def upstream_definitions() -> list[dict]:
    folder = Path(UPSTREAM or "") / "crds"
    names = (
        "gpu-operator", "cert-manager", "cloudnative-pg", "prometheus-operator", "kserve", "lws",
        "gateway-api-inference-extension",
    )  # fmt: skip
    asked_for = {"kserve": "*llminference*", "lws": "*leaderworkersets*"}
    files = [file for name in names for file in (folder / name).glob(asked_for.get(name, "*"))]
    return definitions(file for file in files if file.suffix in {".yaml", ".yml"})


def custom(group: str, kind: str, name: str, spec: dict, space: str | None = SPACE) -> dict:
    meta = {"name": name} | ({"namespace": space} if space else {})
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": meta, "spec": spec}
