"""The component."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from ipaddress import IPv4Address
from types import MappingProxyType

import pulumi

from components.base import Component, edition
from components.base.network import from_anyone, from_peers, names, neighbours, pods_in, policy, scrapes, to_peers
from components.gateway import quotas
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
from components.gateway.shifting import Shift, way_out
from components.gateway.tokens import counted
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
        address_moves: bool = False,
        scrape_interval_s: int,
        issuers: pulumi.Resource,
        monitors: pulumi.Resource,
        by_priority: Collection[str] = (),
        pickers: Mapping[str, Sequence[str]] = MappingProxyType({}),
        pickers_in: Sequence[str] = ("router",),
        quota_images: tuple[Image, Image] | None = None,
        divided: Collection[str] = (),
        shift: Shift | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`quota_images` are those of the service that counts tokens and of its store: without them nobody counts.

        `divided` are models whose replicas hand caches to each other. `shift` says who goes on to another door.
        """
        super().__init__(name, opts)
        limited = quota_images is not None and any(counted(tenant) for tenant in tenants)
        self._shut(models_in, upstreams, pickers_in, pickers, counting=limited, shift=shift)
        if quota_images and limited:
            self._count(tenants, quota_images, scrape_interval_s, monitors)
        wanted = {tenant.key: keys[tenant.key] for tenant in tenants}
        rendered = pulumi.Output.all(**wanted).apply(
            lambda given: json.dumps(
                envoy_configuration(
                    gateway,
                    tenants,
                    given,
                    upstreams,
                    pickers=pickers,
                    by_priority=by_priority,
                    counts=quotas.address(name) if limited else None,
                    divided=divided,
                    shift=shift,
                ),
                indent=1,
            )
        )
        files = {"envoy.json": rendered, "certificate.json": json.dumps(certificate_configuration())}
        needed = [
            self.add(configuration(files)),
            self.add(certificate(gateway, [address], issuer), after=[issuers]),
            self.add(account()),
        ]
        share = shift.percent if shift else 0
        self.add(deployment(gateway, image=image, version=edition(rendered), share=share), after=needed)
        self.add(service(gateway, address if address_moves else None))
        if min(gateway.replicas, nodes) > 1:  # a lone node must let itself be drained
            self.add(budget())
        self.add(monitor(scrape_interval_s), after=[monitors])
        self.reached = {
            "address": str(address),
            "models": {model: f"{_door(gateway)}/{model}/v1" for model in upstreams},
            "certificate_secret": f"{name}/{CERTIFICATE}",
        }
        self.register_outputs(self.reached)

    def _count(
        self, tenants: Sequence[Tenant], images: tuple[Image, Image], scrape_interval_s: int, monitors: pulumi.Resource
    ) -> None:
        image, store = images
        limits = self.add(quotas.configuration(tenants))
        self.add(quotas.deployment(image=image, store=store, version=edition(quotas.limits(tenants))), after=[limits])
        self.add(quotas.service())
        self.add(quotas.monitor(scrape_interval_s), after=[monitors])

    def _shut(
        self,
        models_in: str,
        upstreams: Mapping[str, str],
        pickers_in: Sequence[str],
        pickers: Mapping[str, Sequence[str]],
        *,
        counting: bool,
        shift: Shift | None,
    ) -> None:
        place = Place()
        ports = _ports(upstreams.values())
        ways_in = [from_anyone(place.https_port), scrapes(place.metrics_port)]
        ways_out = [names(), to_peers([pods_in(models_in)], *ports)]
        if pickers:
            asked = [address for addresses in pickers.values() for address in addresses]
            ways_out.append(to_peers([pods_in(each) for each in pickers_in], *_ports(asked)))
        if counting:
            ways_in += [from_peers([neighbours()], quotas.PORT), scrapes(quotas.METRICS_PORT)]
            ways_out.append(to_peers([neighbours()], quotas.PORT))
        self.add(policy(self.name, ingress=ways_in, egress=[*ways_out, *way_out(shift)]))


def _ports(addresses: Iterable[str]) -> list[int]:
    return sorted({int(address.rsplit(":", maxsplit=1)[1]) for address in addresses})


def _door(gateway: Settings) -> str:
    return f"https://{gateway.host}" + ("" if gateway.port == 443 else f":{gateway.port}")
