"""The component."""

import json
from collections.abc import Collection, Mapping, Sequence
from ipaddress import IPv4Address

import pulumi

from components.base import Component, edition
from components.base.network import from_anyone, names, pods_in, policy, scrapes, to_peers
from components.gateway.envoy import certificate_configuration, envoy_configuration
from components.gateway.objects import (
    CERTIFICATE,
    account,
    budget,
    certificate,
    configuration,
    deployment,
    monitor,
    service,
)
from components.gateway.place import Place
from rackwright.site.catalog import Image
from rackwright.site.gateway import Gateway as Settings
from rackwright.site.tenants import Tenant


class Gateway(Component):
    """TLS, tenants' keys and their limits, in front of every model."""

    def __init__(
        self,
        name: str,
        gateway: Settings,
        *,
        image: Image,
        tenants: Sequence[Tenant],
        keys: Mapping[str, pulumi.Input[str]],
        upstreams: Mapping[str, str],
        models_in: str,
        nodes: int,
        issuer: str,
        address: IPv4Address,
        scrape_interval_s: int,
        issuers: pulumi.Resource,
        monitors: pulumi.Resource,
        by_priority: Collection[str] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts)
        self._shut(models_in, upstreams)
        wanted = {tenant.key: keys[tenant.key] for tenant in tenants}
        rendered = pulumi.Output.all(**wanted).apply(
            lambda given: json.dumps(
                envoy_configuration(gateway, tenants, given, upstreams, by_priority=by_priority), indent=1
            )
        )
        files = {"envoy.json": rendered, "certificate.json": json.dumps(certificate_configuration())}
        needed = [
            self.add(configuration(files)),
            self.add(certificate(gateway, [address], issuer), after=[issuers]),
            self.add(account()),
        ]
        self.add(deployment(gateway, image=image, version=edition(rendered)), after=needed)
        self.add(service(gateway))
        if min(gateway.replicas, nodes) > 1:  # a lone node must let itself be drained
            self.add(budget())
        self.add(monitor(scrape_interval_s), after=[monitors])
        self.reached = {
            "address": str(address),
            "models": {model: f"{_door(gateway)}/{model}/v1" for model in upstreams},
            "certificate_secret": f"{name}/{CERTIFICATE}",
        }
        self.register_outputs(self.reached)

    def _shut(self, models_in: str, upstreams: Mapping[str, str]) -> None:
        place = Place()
        ports = sorted({int(upstream.rsplit(":", maxsplit=1)[1]) for upstream in upstreams.values()})
        ways_in = [from_anyone(place.https_port), scrapes(place.metrics_port)]
        self.add(policy(self.name, ingress=ways_in, egress=[names(), to_peers([pods_in(models_in)], *ports)]))


def _door(gateway: Settings) -> str:
    return f"https://{gateway.host}" + ("" if gateway.port == 443 else f":{gateway.port}")
