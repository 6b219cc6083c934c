"""Addresses of machines and of what answers for several of them."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from rackwright.site.clusters import Clusters
from rackwright.site.gateway import Gateway
from rackwright.site.hosts import Host
from rackwright.site.networks import Networks
from rackwright.site.reading.faults import Place, spell
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.unknown import look
from rackwright.site.site import Site


def host_is_on_the_node_network(host: Host, place: Place, networks: Networks) -> Iterator[Broken]:
    """Every machine reaches every other without a router."""
    yield from _outside((*place, "address"), host.address, ("networks", "nodes", "cidr"), networks.nodes.cidr)


def host_is_on_the_storage_network(host: Host, place: Place, networks: Networks) -> Iterator[Broken]:
    """A storage address wants a storage network around it."""
    if host.storage_address is None:
        return
    if networks.storage is None:
        yield Broken(
            (*place, "storage_address"),
            f"is {host.storage_address}, and the site has no networks.storage",
            "describe that network, or take the address out",
        )
        return
    around = networks.storage.cidr
    yield from _outside((*place, "storage_address"), host.storage_address, ("networks", "storage", "cidr"), around)


def default_routes_are_on_their_network(networks: Networks) -> Iterator[Broken]:
    """A default route is reached without a route."""
    for name in ("nodes", "storage"):
        network = look(networks, name)
        if network is not None and network.gateway is not None:
            place = ("networks", name, "gateway")
            yield from _outside(place, network.gateway, ("networks", name, "cidr"), network.cidr)


def first_api_is_the_server(site: Site) -> Iterator[Broken]:
    """K3s answers at its server's own address."""
    cluster = site.clusters.phase1
    servers = site.hosts_in(1, "inference")
    if cluster is not None and len(servers) == 1 and cluster.api != servers[0].address:
        yield Broken(
            ("clusters", "phase1", "api"),
            f"is {cluster.api}, while {servers[0].name}, the server of phase 1, has {servers[0].address}",
            f"write {servers[0].address}",
        )


def shared_addresses_are_on_the_node_network(clusters: Clusters, networks: Networks) -> Iterator[Broken]:
    """Servers can only take over an address of the network that they are on."""
    if clusters.phase2 is not None:
        place = ("clusters", "phase2", "api")
        yield from _outside(place, clusters.phase2.api, ("networks", "nodes", "cidr"), networks.nodes.cidr)


def gateway_is_on_the_node_network(gateway: Gateway, networks: Networks) -> Iterator[Broken]:
    """Servers can only take over an address of the network that they are on."""
    if gateway.address is not None:
        place = ("gateway", "address")
        yield from _outside(place, gateway.address, ("networks", "nodes", "cidr"), networks.nodes.cidr)


def second_api_is_free(host: Host, place: Place, clusters: Clusters) -> Iterator[Broken]:
    """The API of phase 2 moves from one control node to another, and kubeadm cannot change it later."""
    if clusters.phase2 is not None and clusters.phase2.api == host.address:
        yield Broken(
            ("clusters", "phase2", "api"),
            f"is {host.address}, the address of {spell(place)} ({host.name})",
            "write a free address of networks.nodes: it belongs to whichever control node is up",
        )


def default_routes_are_no_hosts(host: Host, place: Place, networks: Networks) -> Iterator[Broken]:
    """A router has its address for itself."""
    if networks.nodes.gateway == host.address:
        yield Broken(
            (*place, "address"),
            f"is {host.address}, which is networks.nodes.gateway",
            "give the host an address of its own",
        )
    if networks.storage and networks.storage.gateway and networks.storage.gateway == host.storage_address:
        yield Broken(
            (*place, "storage_address"),
            f"is {host.storage_address}, which is networks.storage.gateway",
            "give the host an address of its own",
        )


def gateway_address_is_free(site: Site) -> Iterator[Broken]:
    """In phase 2 the gateway's address moves between nodes; a lone server answers at its own."""
    address = site.gateway.address
    if address is None:
        return
    owner = next((host for host in site.hosts if look(host, "address") == address), None)
    if 2 in site.phases and owner is not None:
        yield Broken(
            ("gateway", "address"),
            f"is {address}, the address of {owner.name}",
            "write a free address of networks.nodes, or leave it out",
        )
    if 2 not in site.phases and owner is None:
        yield Broken(
            ("gateway", "address"),
            f"is {address}, and the one server of phase 1 only answers at its own address",
            "leave it out",
        )


def second_phase_has_a_door(gateway: Gateway, clusters: Clusters) -> Iterator[Broken]:
    """Of several nodes none is the one to call, and kube-vip brings no address that nobody named."""
    if clusters.phase2 is not None and gateway.address is None:
        yield Broken(
            ("gateway",),
            "has no address, and in phase 2 it answers at none of the hosts' own",
            "write a free address of networks.nodes as gateway.address",
        )


def services_of_the_site_are_apart(site: Site) -> Iterator[Broken]:
    """The API, the gateway and the router are three things, each at an address of its own."""
    api = site.clusters.phase2.api if site.clusters.phase2 else None
    route = site.networks.nodes.gateway
    if api is not None and api == route:
        yield Broken(
            ("clusters", "phase2", "api"), f"is {api}, which is networks.nodes.gateway", "write a free address"
        )
    if site.gateway.address is not None and site.gateway.address in (api, route):
        other = "clusters.phase2.api" if site.gateway.address == api else "networks.nodes.gateway"
        yield Broken(("gateway", "address"), f"is {site.gateway.address}, which is {other}", "write a free address")


def _outside(place: Place, address: IPv4Address, network_place: Place, network: IPv4Network) -> Iterator[Broken]:
    name = spell(network_place)
    if address not in network:
        yield Broken(place, f"is {address}, outside {name} {network}", f"write a free address of {network}")
    elif network.prefixlen < 31 and address in (network.network_address, network.broadcast_address):
        kind = "network" if address == network.network_address else "broadcast"
        yield Broken(place, f"is {address}, the {kind} address of {name} {network}", "write one between the two ends")
