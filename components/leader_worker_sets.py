"""LeaderWorkerSet's controller: it makes and replaces whole groups of pods; a replica on several hosts is one."""

from typing import Any

import pulumi

from components.base import Chart, Component
from components.base.network import Rule, from_anyone, names, policy
from rackwright.site.catalog import Image

WEBHOOK_PORT = 9443


def values(image: Image) -> dict[str, Any]:
    """What the chart is told; its own tag is that of tomorrow's build. It makes its webhook's certificate itself."""
    manager = {"repository": image.repository, "tag": image.tag, "pullPolicy": "IfNotPresent"}
    return {
        "image": {"manager": manager},
        "podSecurityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
    }


class LeaderWorkerSets(Component):
    """The controller; while it is away no group is made anew, and those that are there go on."""

    def __init__(
        self, name: str, *, chart: Chart, image: Image, to_api: Rule, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        self.add(policy(name, ingress=[from_anyone(WEBHOOK_PORT)], egress=[names(), to_api]))
        # Until its webhook is at work, the API server refuses every set, and every pod of one.
        self.installed = self.release(chart, values(image))
        self.register_outputs({})
