"""Phase 2's pools: hosts for the tools of agents, and hosts for training."""

from collections.abc import Iterator, Sequence

from components.agents import Agents
from components.base.network import Rule, pods_in, to_object_storage, to_peers
from components.gateway import Gateway
from components.gateway.place import Place
from components.mlflow import PORT, Mlflow
from components.training import Training
from rackwright.site.agents import Agents as AgentSettings
from rackwright.site.training import Training as TrainingSettings
from stacks.given import Given


def pools(given: Given, gateway: Gateway, tracking: Sequence[Mlflow]) -> Iterator[Agents | Training]:
    """Register those that the site has hosts for."""
    site = given.site
    if site.hosts_in(2, "agents"):
        door = to_peers([pods_in(gateway.name)], Place().https_port)
        yield Agents("agents", site.agents or AgentSettings(), to_gateway=door, inside=given.inside, opts=given.options)
    if site.hosts_in(2, "training"):
        settings = site.training or TrainingSettings()
        reaching: list[Rule] = [to_peers([pods_in(each.name)], PORT) for each in tracking]
        if site.object_storage:
            reaching.append(to_object_storage(site.object_storage))
        yield Training("training", settings, reaching=reaching, inside=given.inside, opts=given.options)
