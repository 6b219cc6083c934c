"""Kubernetes objects as plain dictionaries, in the API's own words, and what Pulumi registers for each."""

from typing import Any

import pulumi

Manifest = dict[str, Any]

PART_OF = {"app.kubernetes.io/part-of": "rackwright"}
CLUSTER_SCOPED = frozenset({"ClusterIssuer", "Namespace", "PersistentVolume"})
CONFIDENTIAL = {"Secret": ["data", "stringData"]}


class KubernetesObject(pulumi.CustomResource):
    """An object of the cluster, of whatever kind.

    The provider knows every kind by its group, version and name; the SDK's class of each adds a second to every run,
    for importing them.
    """

    metadata: pulumi.Output[Any]

    def __init__(self, name: str, manifest: Manifest, options: pulumi.ResourceOptions) -> None:
        kind: str = manifest["kind"]
        group: str = manifest["apiVersion"] if "/" in manifest["apiVersion"] else f"core/{manifest['apiVersion']}"
        secret = pulumi.ResourceOptions(additional_secret_outputs=CONFIDENTIAL.get(kind))
        super().__init__(
            f"kubernetes:{group}:{kind}", name, {**manifest}, pulumi.ResourceOptions.merge(options, secret)
        )
