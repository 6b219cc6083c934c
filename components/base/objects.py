"""Kubernetes objects as plain dictionaries, in the API's own words, and what Pulumi registers for each."""

import hashlib
from typing import Any

import pulumi

Manifest = dict[str, Any]

PART_OF = {"app.kubernetes.io/part-of": "rackwright"}
CLUSTER_SCOPED = frozenset({
    "ClusterIssuer", "CustomResourceDefinition", "Namespace", "PersistentVolume", "PriorityClass",
    "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
})  # fmt: skip
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


def edition(*values: pulumi.Input[str]) -> pulumi.Output[str]:
    """A mark that changes with confidential values, to restart pods that read them once.

    It may be seen: the vault refuses values that could be guessed from it.
    """
    digest = pulumi.Output.all(*values).apply(lambda known: hashlib.sha256("\0".join(known).encode()).hexdigest()[:16])
    return pulumi.Output.unsecret(digest)
