"""The links of a host: its ports, bonds and VLANs, each with all that it is to be."""

from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface
from typing import Any, Literal

from rackwright.site.hosts import Bond, Host, NetworkName, Nic
from rackwright.site.networks import Network, Networks
from rackwright.site.port_mtus import port_mtus
from rackwright.site.port_names import carriers, vlan_name

Kind = Literal["port", "bond", "vlan"]
STORAGE_METRIC = 2000  # two default routes: the node network's goes first


@dataclass(frozen=True)
class Link:
    """One link; a port has its place or MAC address, a bond its members, a VLAN its tag."""

    name: str
    kind: Kind
    mtu: int
    mac: str | None = None
    path: str | None = None
    bond: str | None = None
    members: tuple[str, ...] = ()
    over: str | None = None
    tag: int | None = None
    vlans: tuple[str, ...] = ()
    address: IPv4Interface | None = None
    gateway: IPv4Address | None = None
    metric: int | None = None
    name_servers: tuple[str, ...] = ()
    is_needed: bool = False  # at boot: without it the host is not on the node network


def links(host: Host, networks: Networks, name_servers: tuple[str, ...] = ()) -> tuple[Link, ...]:
    """Ports, then bonds, then VLANs; names are asked of the given servers where the site names none."""
    asked = tuple(str(each) for each in networks.name_servers) or name_servers
    carried = {link: network for network, link in carriers(host)}
    bare = [*(_port(host, nic) for nic in host.nics), *(_bond(host, bond) for bond in host.bonds), *_vlans(host)]
    sizes = port_mtus(host, networks)
    needed = _needed(host)
    found = []
    for link in bare:
        over = tuple(vlan_name(vlan) for vlan in host.vlans if vlan.over == link.name)
        sized = replace(link, mtu=sizes[link.name], vlans=over, is_needed=link.name in needed)
        found.append(replace(sized, **_addressed(host, networks, carried.get(link.name), asked)))
    return tuple(found)


def _port(host: Host, nic: Nic) -> Link:
    bond = next((bond.name for bond in host.bonds if nic.name in bond.nics), None)
    return Link(nic.name, "port", mtu=0, mac=nic.mac, path=nic.path, bond=bond)


def _bond(host: Host, bond: Bond) -> Link:
    """A bond bears the MAC address of its first port where the site says it, so that switches can know it."""
    macs = {nic.name: nic.mac for nic in host.nics}
    return Link(bond.name, "bond", mtu=0, mac=macs[bond.nics[0]], members=bond.nics)


def _vlans(host: Host) -> list[Link]:
    return [Link(vlan_name(vlan), "vlan", mtu=0, over=vlan.over, tag=vlan.id) for vlan in host.vlans]


def _needed(host: Host) -> set[str]:
    """The link of the node network, and what it is over."""
    carrier = next(link for network, link in carriers(host) if network == "nodes")
    return {carrier, *(vlan.over for vlan in host.vlans if vlan_name(vlan) == carrier)}


def _addressed(host: Host, networks: Networks, name: NetworkName | None, asked: tuple[str, ...]) -> dict[str, Any]:
    network: Network | None = getattr(networks, name) if name else None
    address = host.storage_address if name == "storage" else host.address
    if network is None or address is None:
        return {}
    return {
        "address": IPv4Interface(f"{address}/{network.cidr.prefixlen}"),
        "gateway": network.gateway,
        "metric": STORAGE_METRIC if name == "storage" and network.gateway else None,
        "name_servers": asked if name == "nodes" else (),
    }
