"""Which port of which host is in which network of the switch, and where this machine is reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, ip_address

from rackwright.guests.switch import SwitchPort
from rackwright.site.hosts import Host, NetworkName
from rackwright.site.networks import Network
from rackwright.site.site import Site

FIRST_SOCKET = 10_000


@dataclass(frozen=True)
class Tap:
    """Where this machine stands in one of the guests' networks."""

    network: str
    mtu: int
    address: IPv4Interface
    others: tuple[IPv4Address, ...] = ()

    @property
    def port(self) -> SwitchPort:
        """The switch's port for it."""
        return SwitchPort(f"tap-{self.network}", 0, untagged=self.network)


@dataclass(frozen=True)
class Cabling:
    """Every cable of a rack: the switch's ports, their sockets, this machine's own, and the names that it answers."""

    ports: tuple[SwitchPort, ...]
    taps: tuple[Tap, ...]
    names: Mapping[str, IPv4Address] = field(default_factory=dict)

    @property
    def mtus(self) -> dict[str, int]:
        """The MTU of each network."""
        return {tap.network: tap.mtu for tap in self.taps}

    @property
    def sockets(self) -> dict[str, int]:
        """The TCP port, in the rack's own network namespace, at which each port of the switch is plugged in."""
        return {port.name: FIRST_SOCKET + port.number for port in self.ports}


def cabling(site: Site, hosts: Iterable[Host]) -> Cabling:
    """How some of a site's hosts are joined, out of its ports, bonds, VLANs and networks."""
    named = [(host, nic.name) for host in hosts for nic in host.nics]
    return Cabling(
        ports=tuple(_port(host, nic, number) for number, (host, nic) in enumerate(named, start=1)),
        taps=(taps := tuple(_taps(site))),
        names=_names(site, taps[0].address.ip),
    )


def plug(host: Host, nic: str) -> str:
    """The name of the switch's port behind a host's port."""
    return f"{host.name}/{nic}"


def carrier(host: Host, nic: str) -> str:
    """What carries networks at a port: the bond that it is in, or the port itself."""
    return next((bond.name for bond in host.bonds if nic in bond.nics), nic)


def node_ports(host: Host) -> tuple[list[str], int]:
    """The ports at which a host meets the node network, and the network's tag there, or 0."""
    tags = {vlan.over: vlan.id for vlan in host.vlans if vlan.network == "nodes"}
    tags |= {port.name: 0 for port in host.ports if port.network == "nodes"}
    found = [(nic.name, tags[over]) for nic in host.nics if (over := carrier(host, nic.name)) in tags]
    return [name for name, _ in found], found[0][1] if found else 0


def _port(host: Host, nic: str, number: int) -> SwitchPort:
    over = carrier(host, nic)
    untagged = next((port.network for port in host.ports if port.name == over), None)
    tagged: Mapping[int, NetworkName] = {vlan.id: vlan.network for vlan in host.vlans if vlan.over == over}
    bond = f"{host.name}/{over}" if over != nic else None
    return SwitchPort(plug(host, nic), number, untagged, tagged, bond)


def _taps(site: Site) -> Iterator[Tap]:
    networks = site.networks
    taken = set(_addresses(site))
    servers = [found for server in (*networks.name_servers, *networks.time_servers) if (found := _address(server))]
    for name, network in (("nodes", networks.nodes), ("storage", networks.storage)):
        if network is not None:
            own = (
                network.gateway if network.gateway and network.gateway not in taken else _free(network, taken, servers)
            )
            others = (
                [each for each in dict.fromkeys(servers) if each not in taken and each != own]
                if name == "nodes"
                else []
            )
            yield Tap(name, network.mtu, IPv4Interface(f"{own}/{network.cidr.prefixlen}"), tuple(others))


def _names(site: Site, here: IPv4Address) -> dict[str, IPv4Address]:
    """Names that are answered: the hosts', and those of time servers, whose part this machine plays."""
    servers = (str(server) for server in site.networks.time_servers if _address(server) is None)
    return {host.name: host.address for host in site.hosts} | dict.fromkeys(servers, here)


def _addresses(site: Site) -> Iterator[IPv4Address]:
    for host in site.hosts:
        yield from (address for address in (host.address, host.storage_address) if address)
    yield from (cluster.api for phase in site.phases if (cluster := site.cluster(phase)))


def _address(server: object) -> IPv4Address | None:
    """A server's address where it is named by one."""
    try:
        found = ip_address(str(server))
    except ValueError:
        return None
    return found if isinstance(found, IPv4Address) else None


def _free(network: Network, taken: set[IPv4Address], servers: list[IPv4Address]) -> IPv4Address:
    """The last address of a network that nobody has."""
    last, first = int(network.cidr.broadcast_address) - 1, int(network.cidr.network_address)
    return next(each for number in range(last, first, -1) if (each := IPv4Address(number)) not in {*taken, *servers})
