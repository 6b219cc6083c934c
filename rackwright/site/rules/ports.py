"""Ports, bonds and VLANs of one host: each network is carried once, over something that exists."""

from collections import Counter
from collections.abc import Iterator

from rackwright.site.hosts import Host
from rackwright.site.networks import Networks
from rackwright.site.port_names import carriers, is_taken
from rackwright.site.reading.faults import Place, spell
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.nearest import nearest
from rackwright.site.reading.repeats import repeats
from rackwright.site.reading.unknown import is_known, look


def ports_are_found_in_one_way(host: Host, place: Place) -> Iterator[Broken]:
    """A port is known by its MAC address or by its place on the bus."""
    for index, nic in enumerate(host.nics):
        if (nic.mac is None) == (nic.path is None):
            what = "has neither mac nor path" if nic.mac is None else f"has mac {nic.mac} and path {nic.path}"
            yield Broken((*place, "nics", index), what, "write one of the two")


def port_names_are_unique(host: Host, place: Place) -> Iterator[Broken]:
    """Ports and bonds share one space of names, and a port is found once."""
    names = [((*place, "nics", i, "name"), look(nic, "name")) for i, nic in enumerate(host.nics)]
    names += [((*place, "bonds", i, "name"), look(bond, "name")) for i, bond in enumerate(host.bonds)]
    paths = [((*place, "nics", i, "path"), look(nic, "path")) for i, nic in enumerate(host.nics)]
    for where, value, first in (*repeats(names), *repeats(paths)):
        yield Broken(where, f"is {value}, as {spell(first)} is", "give each port and bond one of its own")


def port_names_are_free(host: Host, place: Place) -> Iterator[Broken]:
    """The kernel and the cluster give out names as well."""
    names = [((*place, "nics", i, "name"), look(nic, "name")) for i, nic in enumerate(host.nics)]
    names += [((*place, "bonds", i, "name"), look(bond, "name")) for i, bond in enumerate(host.bonds)]
    for where, name in names:
        if is_known(name) and is_taken(name):
            yield Broken(
                where,
                f"is {name}, a name that the kernel or the cluster gives to ports of its own",
                "name it for what it does, such as node0 or fabric0",
            )


def bonds_join_known_ports(host: Host, place: Place) -> Iterator[Broken]:
    """A bond is made of ports of this host, each in one bond, all of one speed, none with a network of its own."""
    ports = {nic.name: nic for nic in host.nics}
    owner: dict[str, str] = {}
    for index, bond in enumerate(host.bonds):
        for inner, name in enumerate(bond.nics):
            where = (*place, "bonds", index, "nics", inner)
            if name not in ports:
                yield Broken(where, f"is {name}, and the host has no such port", nearest(name, ports))
            elif owner.setdefault(name, bond.name) != bond.name or bond.nics.index(name) != inner:
                yield Broken(where, f"is {name}, which is in {owner[name]} already", "put each port into one bond")
            elif ports[name].network is not None:
                what = f"is {name}, which carries {ports[name].network} untagged by itself"
                yield Broken(where, what, f"write `network: {ports[name].network}` at the bond, or leave the port out")


def bonds_have_one_speed(host: Host, place: Place) -> Iterator[Broken]:
    """LACP leaves out ports whose speed differs."""
    speeds = {nic.name: nic.speed_gbps for nic in host.nics}
    for index, bond in enumerate(host.bonds):
        found = {name: speeds[name] for name in bond.nics if name in speeds}
        if len(set(found.values())) > 1:
            said = ", ".join(f"{name} {speed} Gb/s" for name, speed in found.items())
            yield Broken(
                (*place, "bonds", index, "nics"),
                f"join ports of different speeds ({said})",
                "bond ports of one speed: LACP uses only those that are alike",
            )


def vlans_are_over_known_ports(host: Host, place: Place) -> Iterator[Broken]:
    """A VLAN is over a bond, or over a port that is in none; a tag stands once over each."""
    over = [port.name for port in host.ports]
    bonded = {name: bond.name for bond in host.bonds for name in bond.nics}
    for index, vlan in enumerate(host.vlans):
        where = (*place, "vlans", index, "over")
        if vlan.over not in over:
            yield Broken(where, f"is {vlan.over}, and the host has no such port or bond", nearest(vlan.over, over))
        elif vlan.over in bonded:
            yield Broken(where, f"is {vlan.over}, which is in {bonded[vlan.over]}", f"write {bonded[vlan.over]}")
    tags = (((*place, "vlans", i, "id"), (vlan.over, vlan.id)) for i, vlan in enumerate(host.vlans))
    for where, _, first in repeats(tags):
        tag = host.vlans[int(where[-2])].id
        yield Broken(where, f"is {tag}, as {spell(first)} over the same port is", "write each tag once over a port")


def networks_are_carried_once(host: Host, place: Place) -> Iterator[Broken]:
    """A network with two ports on one host has two routes; several ports for one network are a bond."""
    counts = Counter(name for name, _ in carriers(host))
    if not counts["nodes"]:
        yield Broken(
            place, "has no port on the node network", "write `network: nodes` at the port, bond or VLAN that carries it"
        )
    for name, count in counts.items():
        if count > 1:
            ports = " and ".join(port for network, port in carriers(host) if network == name)
            yield Broken(place, f"carries {name} over {ports}", "let one of them carry it, or bond them")


def storage_ports_have_addresses(host: Host, place: Place, networks: Networks) -> Iterator[Broken]:
    """A port on the storage network wants an address there, and the reverse."""
    ports = [port for name, port in carriers(host) if name == "storage"]
    if networks.storage is None and host.storage_address is not None:
        return  # that is a fault of its own
    if ports and networks.storage is None:
        yield Broken(
            place, f"carries storage over {ports[0]}, and the site has no networks.storage", "describe that network"
        )
    elif ports and host.storage_address is None:
        yield Broken(
            place, f"carries storage over {ports[0]} and has no storage_address", "write its address on that network"
        )
    elif not ports and host.storage_address is not None:
        yield Broken(
            (*place, "storage_address"),
            f"is {host.storage_address}, and no port of the host carries storage",
            "write `network: storage` at the port, bond or VLAN that does",
        )


def vlans_fit_into_their_port(host: Host, place: Place, networks: Networks) -> Iterator[Broken]:
    """A VLAN's packets are the port's packets: they cannot be larger than those of the untagged network."""
    untagged = {port.name: port.network for port in host.ports if port.network}
    sizes = {"nodes": networks.nodes.mtu} | ({"storage": networks.storage.mtu} if networks.storage else {})
    for index, vlan in enumerate(host.vlans):
        below = untagged.get(vlan.over)
        if below in sizes and vlan.network in sizes and sizes[vlan.network] > sizes[below]:
            yield Broken(
                (*place, "vlans", index),
                f"carries {vlan.network} with mtu {sizes[vlan.network]} over {vlan.over}, "
                f"whose untagged network {below} has mtu {sizes[below]}",
                f"set networks.{below}.mtu to {sizes[vlan.network]} or more, or tag that network as well",
            )
