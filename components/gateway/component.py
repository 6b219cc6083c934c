"""The component."""

import json
from collections.abc import Mapping, Sequence
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
        issuer: str,
        address: IPv4Address,
        scrape_interval_s: int,
        issuers: pulumi.Resource,
        monitors: pulumi.Resource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts)
        place = Place()
        ports = {int(upstream.rsplit(":", maxsplit=1)[1]) for upstream in upstreams.values()}
        ways_out = [names(), to_peers([pods_in(models_in)], *sorted(ports))]
        self.add(policy(name, ingress=[from_anyone(place.https_port), scrapes(place.metrics_port)], egress=ways_out))
        wanted = {tenant.key: keys[tenant.key] for tenant in tenants}
        rendered = pulumi.Output.all(**wanted).apply(
            lambda given: json.dumps(envoy_configuration(gateway, tenants, given, upstreams), indent=1)
        )
        files = {"envoy.json": rendered, "certificate.json": json.dumps(certificate_configuration())}
        secret = self.add(configuration(files))
        shown = self.add(certificate(gateway, [address], issuer), after=[issuers])
        pods = deployment(gateway, image=image, version=edition(rendered))
        self.add(pods, after=[self.add(account()), secret, shown])
        self.add(service(gateway))
        if gateway.replicas > 1:
            self.add(budget())
        self.add(monitor(scrape_interval_s), after=[monitors])
        door = f"https://{gateway.host}" + ("" if gateway.port == 443 else f":{gateway.port}")
        self.reached = {
            "address": str(address),
            "models": {model: f"{door}/{model}/v1" for model in upstreams},
            "certificate_secret": f"{name}/{CERTIFICATE}",
        }
        self.register_outputs(self.reached)
