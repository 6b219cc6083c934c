"""Kubernetes objects as plain dictionaries, in the API's own words, and what Pulumi registers for each."""

import re
from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

Manifest = dict[str, Any]

PART_OF = {"app.kubernetes.io/part-of": "rackwright"}

KINDS: Mapping[tuple[str, str], Any] = {
    ("v1", "ConfigMap"): kubernetes.core.v1.ConfigMap,
    ("v1", "Namespace"): kubernetes.core.v1.Namespace,
    ("v1", "PersistentVolume"): kubernetes.core.v1.PersistentVolume,
    ("v1", "PersistentVolumeClaim"): kubernetes.core.v1.PersistentVolumeClaim,
    ("v1", "Secret"): kubernetes.core.v1.Secret,
    ("v1", "Service"): kubernetes.core.v1.Service,
    ("v1", "ServiceAccount"): kubernetes.core.v1.ServiceAccount,
    ("apps/v1", "Deployment"): kubernetes.apps.v1.Deployment,
    ("networking.k8s.io/v1", "NetworkPolicy"): kubernetes.networking.v1.NetworkPolicy,
    ("policy/v1", "PodDisruptionBudget"): kubernetes.policy.v1.PodDisruptionBudget,
}
CLUSTER_SCOPED = frozenset({"ClusterIssuer", "Namespace", "PersistentVolume"})


def register(name: str, manifest: Manifest, options: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """The resource for a manifest; kinds that are not built into Kubernetes become custom resources."""
    known = KINDS.get((manifest["apiVersion"], manifest["kind"]))
    if known is None:
        return kubernetes.apiextensions.CustomResource(
            name,
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            metadata=manifest["metadata"],
            spec=manifest["spec"],
            opts=options,
        )
    rest = {_snake(key): value for key, value in manifest.items() if key not in {"apiVersion", "kind"}}
    resource: pulumi.CustomResource = known(name, opts=options, **rest)
    return resource


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()
