"""Network ports of one machine, and its addresses."""

from collections.abc import Iterator

from rackwright.preflight.finding import Fault, changes, forbids, warns
from rackwright.preflight.machine import Machine
from rackwright.preflight.parsers.links import default_routes, speed_gbps
from rackwright.preflight.seen import NotSeen
from rackwright.site.hosts import Host, NetworkName, Nic, Phase
from rackwright.site.port_mtus import port_mtus
from rackwright.site.port_names import carriers
from rackwright.site.rdma_ports import rdma_ports
from rackwright.site.site import Site
from rackwright.site.spans import users_of_rdma

ROCE_2 = "RoCE v2"
MAPPED_IPV4 = "0000:0000:0000:0000:0000:ffff:"


def ports_are_there(machine: Machine, host: Host) -> Iterator[Fault]:
    """Each of the site's ports is in the machine, by its MAC address or its place on the bus."""
    for nic in host.nics:
        if machine.link_of(nic) is None:
            key, wished = ("mac", nic.mac) if nic.mac else ("path", nic.path)
            have = [
                f"{name} ({machine.links[name].mac if nic.mac and name in machine.links else port.path})"
                for name, port in machine.network.ports.items()
            ]
            yield forbids(
                f"has no port {nic.name} with {key} {wished}; it has {', '.join(have) or 'none'}",
                f"Correct {key} of {nic.name}, or look for the card",
            )


def ports_have_their_speed(machine: Machine, host: Host) -> Iterator[Fault]:
    """Each port's link is up, at the site's speed."""
    for nic in host.nics:
        name = machine.link_of(nic)
        if name is None:
            continue
        found = speed_gbps(machine.network.ports[name].speed)
        if found is None and not machine.network.ports[name].carrier:  # the kernel tells it of ports that are on
            yield changes(
                f"has {nic.name} ({name}) switched off, which hides whether it has a link",
                "Switch it on (ip link set up) and ask again; provisioning does, and verify looks at its speed",
            )
        elif found is None or machine.network.ports[name].carrier == "0":
            yield forbids(
                f"has no link at {nic.name} ({name}), and the site says {nic.speed_gbps} Gb/s",
                "Look at the cable, the transceiver and the switch's port (administratively up? same FEC?)",
            )
        elif found < nic.speed_gbps:
            yield forbids(
                f"has {found:g} Gb/s at {nic.name} ({name}), and the site says {nic.speed_gbps}",
                "Look at the transceiver, the switch port's speed and FEC, or correct speed_gbps",
            )
        elif found > nic.speed_gbps:
            yield warns(
                f"has {found:g} Gb/s at {nic.name} ({name}), and the site says {nic.speed_gbps}", "Correct speed_gbps"
            )


def ports_have_their_mtu(machine: Machine, host: Host, site: Site) -> Iterator[Fault]:
    """Each port, and the bond or VLAN that bears the address, is set to the MTU of the network that it carries."""
    sizes = port_mtus(host, site.networks)
    wished: dict[str, tuple[int, NetworkName, str]] = {}  # by a link's present name: its MTU, network and words
    for nic in host.nics:
        name = machine.link_of(nic)
        for carried in _carried(host, nic)[:1] if name else ():
            wished[name or ""] = (sizes[nic.name], carried, f"{nic.name} ({name})")
    for network, carrier in carriers(host):
        address = host.storage_address if network == "storage" else host.address
        if address and (name := machine.link_at(address)):
            wished.setdefault(name, (sizes[carrier], network, name))
    for name, (mtu, on, called) in wished.items():
        link = machine.links.get(name)
        if link and link.mtu != mtu:
            yield changes(
                f"has MTU {link.mtu} at {called}, and network {on} has {mtu}",
                "Set it at the port, its bond and its VLANs alike",
            )


def address_is_the_sites(machine: Machine, host: Host) -> Iterator[Fault]:
    """The address at which the host is reached is its own, and not translated on the way."""
    if machine.link_at(host.address) is None:
        yield forbids(
            f"does not bear {host.address} itself, by which the site calls it",
            "Give it the address, or correct address: the cluster's certificates and peers need the real one",
        )


def default_route_exists(machine: Machine) -> Iterator[Fault]:
    """There is a default route: k3s and kubeadm take its port's address, and wait or fail without one."""
    if not default_routes(machine.network):
        yield forbids(
            "has no default route",
            "Set networks.nodes.gateway at the host (a dummy port's route does, without internet)",
        )


def gid_indexes_agree(fleet: dict[str, Machine]) -> Iterator[Fault]:
    """A port's RoCE v2 address stands at one index on every host: NCCL is told one index for all."""
    found: dict[str, dict[str, int]] = {}
    for name, machine in fleet.items():
        for nic, index in _gid_indexes(machine):
            found.setdefault(nic, {})[name] = index
    for nic, indexes in found.items():
        if len(set(indexes.values())) > 1:
            said = ", ".join(f"{index} on {name}" for name, index in indexes.items())
            common = max(set(indexes.values()), key=list(indexes.values()).count)
            for name, index in indexes.items():
                if index != common:
                    yield warns(
                        f"has RoCE v2 of {nic} at GID index {index}, and others elsewhere ({said})",
                        f"Set NCCL_IB_GID_INDEX={index} on this host, or make addresses and VLANs alike and reboot",
                        name,
                    )


def caches_have_ports(machine: Machine, host: Host, site: Site, phase: Phase) -> Iterator[Fault]:
    """Where replicas reach each other by RDMA, a host that serves has a device for it beside the port."""
    users = users_of_rdma(site)
    if phase != 2 or not users or host not in [each for _, each in site.numbered_servers_in(2)]:
        return
    beside = {port for device in machine.network.rdma for port in device.ports}
    for nic in rdma_ports(host):
        if machine.link_of(nic) not in beside:
            yield warns(
                f"shows no RDMA device beside {nic.name}, by which replicas of {', '.join(users)} reach each other",
                "Look at `rdma link` and whether mlx5_ib is loaded; a card without RoCE cannot do it",
            )


def _gid_indexes(machine: Machine) -> Iterator[tuple[str, int]]:
    """The index of the IPv4 RoCE v2 address of each of the site's ports, as far as it is shown."""
    try:
        names = {machine.link_of(nic): nic.name for nic in machine.host.nics}
        devices = machine.network.rdma
    except NotSeen:
        return  # the checks of ports say so
    for device in devices:
        ours = next((names[port] for port in device.ports if port in names), None)
        index = next((g.index for g in device.gids if g.type == ROCE_2 and g.gid.startswith(MAPPED_IPV4)), None)
        if ours is not None and index is not None:
            yield ours, index


def _carried(host: Host, nic: Nic) -> list[NetworkName]:
    """Networks that a port carries: its own, its bond's, and those of VLANs over either."""
    bonds = [bond for bond in host.bonds if nic.name in bond.nics]
    over = {nic.name, *(bond.name for bond in bonds)}
    found = [
        nic.network,
        *(bond.network for bond in bonds),
        *(vlan.network for vlan in host.vlans if vlan.over in over),
    ]
    return [network for network in found if network is not None]
