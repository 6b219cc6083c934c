"""Replicas that take the GPUs of several hosts: on how many, what each holds, and how fast one hands on to the next."""

from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.site.gpu_resources import offered, requested
from rackwright.site.halves import Group
from rackwright.site.hosts import Host
from rackwright.site.moving import LINE_SHARE, prefill_tokens_per_s
from rackwright.site.rdma_ports import networks_of, rdma_gbps
from rackwright.site.site import Site

HANDED_ON = 2 * 2  # bytes for each of a token's numbers: the layers' sums and what is still to be added, in 16 bits


@dataclass(frozen=True)
class HandingOn:
    """Tokens of prompts that a replica computes in a second, and that one of its hosts can hand on to the next."""

    hosts: int
    computed_per_s: float
    handed_on_per_s: float
    gbps: int
    by_rdma: bool


def spanning(site: Site) -> tuple[Group, ...]:
    """Models of phase 2 of which a replica takes several hosts."""
    return tuple(each for each in site.groups_in(2) if each.hosts > 1)


def hosts_with_room(site: Site, group: Group) -> list[Host]:
    """Hosts of phase 2 that a replica, or its part on one host, may stand on."""
    wanted, gpus = requested(group.model, site.gpu), group.part.gpus
    return [
        host
        for _, host in site.numbered_servers_in(2)
        if host.gpus and offered(host.gpus, site.gpu).get(wanted, 0) >= gpus
    ]


def handing_on(site: Site, group: Group) -> HandingOn:
    """Over the slowest host's port: RDMA where every host has it, else that of the pods' own network."""
    model, hosts = group.model, hosts_with_room(site, group)
    speeds = [rdma_gbps(host) for host in hosts]
    rdma = [speed for speed in speeds if speed is not None]
    by_rdma = len(rdma) == len(speeds)
    gbps = min(rdma) if by_rdma else min(_pods_gbps(host) for host in hosts)
    bytes_ = model.shape.hidden * HANDED_ON
    computed = prefill_tokens_per_s(model, [host.gpus for host in hosts if host.gpus])
    return HandingOn(group.hosts, computed, gbps * 1e9 / 8 * LINE_SHARE / bytes_, gbps, by_rdma)


def users_of_rdma(site: Site) -> dict[str, str]:
    """Models of phase 2 whose replicas, or their parts, reach each other by the hosts' RDMA ports, and the network."""
    if site.networks.storage is None:
        return {}
    divided = [model.name for model, serving in site.models_in(2) if serving.disaggregation]
    handing = [each.model.name for each in spanning(site) if hands_on_by_rdma(site, each)]
    return dict.fromkeys([*divided, *handing], str(site.networks.storage.cidr))


def hands_on_by_rdma(site: Site, group: Group) -> bool:
    """True where every host that a replica's part may stand on has an RDMA port."""
    return group.hosts > 1 and all(rdma_gbps(host) is not None for host in hosts_with_room(site, group))


def products(hosts: Iterable[Host]) -> dict[str, str]:
    """By product and memory, the first host that has such GPUs."""
    found: dict[str, str] = {}
    for host in hosts:
        if host.gpus:
            found.setdefault(f"{host.gpus.product} {host.gpus.memory_gb} GB", host.name)
    return found


def _pods_gbps(host: Host) -> int:
    """Of one connection between pods: it takes one port of those that the node network has."""
    return max((nic.speed_gbps for nic in host.nics if "nodes" in networks_of(host, nic)), default=0)
