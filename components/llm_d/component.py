"""The component."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pulumi

from components.base import Component, Manifest
from components.base.network import Rule, from_peers, names, pods_in, policy, scrapes, to_peers
from components.llm_d.definitions import definitions
from components.llm_d.lent import lent
from components.llm_d.objects import (
    PICK_PORT,
    account,
    binding,
    budget,
    monitor,
    objectives,
    pickers,
    pool,
    role,
    service,
    settings,
)
from components.llm_d.picking import configuration
from components.llm_d.pod import METRICS_PORT, stateful_set
from rackwright.site.catalog import Image
from rackwright.site.models import Model
from rackwright.site.routing import Routing


class Router(Component):
    """Two pickers for each model, which the gateway asks where to send a request and when."""

    def __init__(
        self,
        name: str,
        routing: Routing,
        *,
        image: Image,
        models: Sequence[Model],
        upstreams: Mapping[str, str],
        engines: Mapping[str, dict[str, str]],
        engines_in: str,
        beside: pulumi.Resource,
        caller: str,
        to_api: Rule,
        scrape_interval_s: int,
        monitors: pulumi.Resource,
        made_elsewhere: Mapping[str, str] = MappingProxyType({}),
        least_tokens: Mapping[str, int] = MappingProxyType({}),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`engines` are labels of pods that answer, by model; `beside` is the namespace of the name `engines_in`.

        `made_elsewhere` names pools that another component makes, by their model, with pickers of what is `lent`.
        `least_tokens` says of a divided model from how many tokens on another replica computes them.
        """
        super().__init__(name, opts)
        ports = {model.name: int(upstreams[model.name].rsplit(":", maxsplit=1)[1]) for model in models}
        self._shut(caller, engines_in, sorted({*ports.values()}), to_api)
        self.kinds = [self.add(each) for each in definitions()]
        read: list[Manifest] = [role(), binding(name)]
        for model in models:
            theirs = made_elsewhere.get(model.name)
            read += [] if theirs else [pool(model, selector=engines[model.name], port=ports[model.name])]
            read += objectives(model, theirs)
        needed = [self.add(account()), *(self.add(_in(engines_in, each), after=[beside, *self.kinds]) for each in read)]
        self.lent: dict[str, tuple[Manifest, Manifest]] = {}
        for model in models:
            told = configuration(model, routing, least_tokens.get(model.name))
            if theirs := made_elsewhere.get(model.name):
                self.lent[model.name] = (lent(theirs, image=image, engines_in=engines_in), told)
            else:
                self._lay(model, told, image, engines_in, needed)
        if ours := [model for model in models if model.name not in made_elsewhere]:
            self.add(monitor(scrape_interval_s), after=[monitors])
        self.pickers = {model.name: pickers(model, name) for model in ours}
        self.register_outputs({"pickers": self.pickers})

    def _lay(
        self, model: Model, told: Manifest, image: Image, engines_in: str, needed: Sequence[pulumi.Resource]
    ) -> None:
        file = self.add(settings(model, told))
        pods = stateful_set(model, image=image, configuration=told, engines_in=engines_in)
        # A picker is ready when it has read its pool, whether or not an engine is.
        self.add(pods, after=[*needed, file])
        self.add(service(model), wait=False)
        self.add(budget(model))

    def _shut(self, caller: str, engines_in: str, engine_ports: Sequence[int], to_api: Rule) -> None:
        asked = from_peers([pods_in(caller)], PICK_PORT)
        figures = to_peers([pods_in(engines_in)], *engine_ports)
        self.add(policy(self.name, ingress=[asked, scrapes(METRICS_PORT)], egress=[names(), to_api, figures]))


def _in(namespace: str, manifest: Manifest) -> Manifest:
    return manifest | {"metadata": manifest["metadata"] | {"namespace": namespace}}
