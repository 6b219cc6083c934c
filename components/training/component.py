"""The component."""

from collections.abc import Sequence

import pulumi

from components.base import Component, Manifest
from components.base.admission import admission, priority_class
from components.base.network import Rule, names, neighbours, policy, to_way
from components.training.objects import RANK, of_pods, quota
from rackwright.site.training import Training as Settings


def manifests(name: str, training: Settings, *, reaching: Sequence[Rule], inside: Sequence[str]) -> list[Manifest]:
    """Everything in the namespace `name`, and what the API server asks of its pods."""
    peers = [neighbours()]  # the parts of one job, whose ports are the framework's
    ways = [to_way(way, inside) for way in training.ways_out]
    return [
        policy(name, ingress=[{"from": peers}], egress=[names(), {"to": peers}, *reaching, *ways]),
        priority_class(RANK, -50, "Training: it waits for room, and takes nobody's place."),
        quota(training),
        *admission(f"{RANK}-pods", name, "pods", of_pods(), changes=False),
    ]


class Training(Component):
    """A namespace for jobs that train: they wait for GPUs of training's hosts, and take none from inference.

    `reaching` are the ways to what the platform gives them: tracking and object storage.
    """

    def __init__(
        self,
        name: str,
        training: Settings,
        *,
        reaching: Sequence[Rule],
        inside: Sequence[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts, pod_security="baseline")  # images of frameworks run as root
        for manifest in manifests(name, training, reaching=reaching, inside=inside):
            self.add(manifest)
        self.reached = {"namespace": name, "priority_class": RANK}
        self.register_outputs(self.reached)
