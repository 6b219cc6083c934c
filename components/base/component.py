"""The base of every component."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pulumi
from pulumi_kubernetes.helm.v3 import Release

from components.base.charts import Chart
from components.base.objects import CLUSTER_SCOPED, PART_OF, KubernetesObject, Manifest

PodSecurity = Literal["restricted", "baseline", "privileged"]
RELEASE_TIMEOUT_S = 900  # fixed for good: a changed timeout alone upgrades every release and runs its hooks again
SKIP_AWAIT, WAIT_FOR = "pulumi.com/skipAwait", "pulumi.com/waitFor"


def namespace(name: str, pod_security: PodSecurity, uses: Mapping[str, str] | None = None) -> Manifest:
    """A namespace of the platform, with the Pod Security level that its pods are held to, and what lets them in."""
    labels = PART_OF | {"pod-security.kubernetes.io/enforce": pod_security} | dict(uses or {})
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


class Component(pulumi.ComponentResource):
    """A part of the platform in a namespace of its own, which bears the component's name.

    `reached` says how others come to it, where they do.
    """

    reached: Mapping[str, Any]

    def __init__(
        self,
        name: str,
        opts: pulumi.ResourceOptions | None = None,
        *,
        pod_security: PodSecurity = "restricted",
        uses: Mapping[str, str] | None = None,
        after: Sequence[pulumi.Resource] = (),
    ) -> None:
        """What comes after something comes as a whole, and is gone as a whole before that goes."""
        super().__init__(f"rackwright:components:{type(self).__name__}", name, {}, opts)
        self.name = name
        self.namespace = self.add(namespace(name, pod_security, uses), after=after)

    def owned(self, after: Sequence[pulumi.Resource] = ()) -> pulumi.ResourceOptions:
        """Options of a child: what it must wait for is said, never implied by parentage."""
        return pulumi.ResourceOptions(parent=self, depends_on=list(after))

    def add(
        self,
        manifest: Manifest,
        *,
        after: Sequence[pulumi.Resource] = (),
        wait: bool | str = True,
        kept: bool = False,
    ) -> KubernetesObject:
        """Register an object, in this component's namespace unless it belongs to none; wait until it is ready.

        `wait` may name what to wait for instead: `jsonpath={.status.replicas}=2`. One that is `kept` stays in the
        cluster when it is registered no more, as long as its namespace does.
        """
        metadata = {**manifest["metadata"]}
        if manifest["kind"] not in CLUSTER_SCOPED and "namespace" not in metadata:
            metadata["namespace"] = self.namespace.metadata["name"]
        if wait is not True:
            told = {WAIT_FOR: wait} if wait else {SKIP_AWAIT: "true"}
            metadata["annotations"] = {**metadata.get("annotations", {}), **told}
        options = pulumi.ResourceOptions.merge(self.owned(after), pulumi.ResourceOptions(retain_on_delete=kept or None))
        return KubernetesObject(f"{self.name}/{metadata['name']}", {**manifest, "metadata": metadata}, options)

    def release(
        self,
        chart: Chart,
        values: Mapping[str, Any],
        *,
        wait: bool = True,
        renews_definitions: bool = False,
        after: Sequence[pulumi.Resource] = (),
    ) -> Release:
        """Install a chart under its own name, and wait until its pods are ready unless that says nothing.

        One that renews its definitions by a job of its own is not held against the old ones before that has run.
        """
        return Release(
            f"{self.name}/{chart.name}",
            name=chart.name,
            namespace=self.namespace.metadata["name"],
            values=values,
            timeout=RELEASE_TIMEOUT_S,
            skip_await=not wait,
            disable_openapi_validation=renews_definitions or None,
            opts=self.owned(after),
            **chart.source(),
        )
