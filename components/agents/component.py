"""The component."""

from collections.abc import Sequence

import pulumi

from components.agents.demands import RANK, of_jobs, of_pods
from components.agents.objects import RUNNER, limits, quota, runner
from components.base import Component, Manifest
from components.base.admission import admission, priority_class
from components.base.network import Rule, names, policy, to_way
from rackwright.site.agents import Agents as Settings


def manifests(name: str, agents: Settings, *, to_gateway: Rule, inside: Sequence[str]) -> list[Manifest]:
    """Everything in the namespace `name`, and what the API server asks of its pods and jobs."""
    ways = [to_way(way, inside) for way in agents.ways_out]
    return [
        policy(name, egress=[names(), to_gateway, *ways]),
        priority_class(RANK, -100, "Tools of agents: the first to go where a host is short of memory."),
        quota(agents),
        limits(agents),
        runner(),
        *admission(f"{RANK}-pods", name, "pods", of_pods(agents), changes=False),
        *admission(f"{RANK}-jobs", name, "batch/jobs", of_jobs(agents), changes=True),
    ]


class Agents(Component):
    """A namespace for tools: jobs that wait for room on hosts of their own, and end by themselves.

    The queue is the scheduler's: a job's pod waits until a host has room, in the order in which they came, and as many
    run as there is work for. Beyond `waiting` a job is refused when it is made.
    """

    def __init__(
        self,
        name: str,
        agents: Settings,
        *,
        to_gateway: Rule,
        inside: Sequence[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts)
        for manifest in manifests(name, agents, to_gateway=to_gateway, inside=inside):
            self.add(manifest)
        self.reached = {"namespace": name, "priority_class": RANK, "role": RUNNER}
        self.register_outputs(self.reached)
