"""What stands between two machines: packets of full size, round trips, routers, firewalls."""

from collections.abc import Iterator
from typing import NamedTuple

from rackwright.preflight.answers import Ping
from rackwright.preflight.finding import Fault, changes, forbids
from rackwright.preflight.machine import Machine
from rackwright.preflight.parsers.pings import Reached, reached
from rackwright.site.hosts import Host
from rackwright.site.site import Site


class Way(NamedTuple):
    """To one peer on one network: a small packet, and one as large as the network says."""

    ping: Ping
    small: Reached
    full: Reached | None


def peers_answer(machine: Machine) -> Iterator[Fault]:
    """Each other host of the phase answers on each network that both are in."""
    for way in _ways(machine):
        if not way.small.answered:
            address = way.ping.address
            if way.ping.network == "nodes":
                yield forbids(
                    f"gets no answer from {way.ping.name} ({address}, nodes)",
                    "Look at the switch's VLANs and ports, at both addresses, and whether ICMP is let through",
                )
            else:
                yield changes(
                    f"gets no answer from {way.ping.name} ({address}, {way.ping.network})",
                    "Bring the network up on both; if it is up, look at the switch's VLANs and ports",
                )


def full_packets_pass(machine: Machine, host: Host) -> Iterator[Fault]:
    """Packets of the network's MTU reach each peer undivided: one switch port that is smaller swallows them."""
    for way in _ways(machine):
        full, ping = way.full, way.ping
        if full is None or full.answered or not way.small.answered or full.own_limit is not None:
            continue  # the host's own smaller MTU is said of its port
        where = f"{ping.name} ({ping.address}, {ping.network})"
        port = machine.link_at(host.storage_address) if ping.network == "storage" and host.storage_address else None
        leaving = port or machine.link_at(host.address) or "its port"
        if full.path_limit:
            what = (
                f"sends {ping.bytes} bytes to {where} by {leaving}, and {full.path_limit[0]} takes {full.path_limit[1]}"
            )
        else:
            what = f"sends {ping.bytes} bytes to {where} by {leaving}, and they vanish; 84 bytes pass"
        yield forbids(
            what,
            f"Set MTU {ping.mtu} (on switches 9216) at both hosts' ports and every switch port between, or write the "
            f"smaller mtu at networks.{ping.network}",
        )


def no_router_stands_between(machine: Machine) -> Iterator[Fault]:
    """Hosts of one network reach each other in one hop."""
    for way in _ways(machine):
        if way.small.routers:
            yield forbids(
                f"reaches {way.ping.name} ({way.ping.address}, {way.ping.network}) over {way.small.routers} router(s)",
                "Put both into one layer-2 network; look at netmasks and the switch's VLANs",
            )


def agents_are_near(machine: Machine, host: Host, site: Site) -> Iterator[Fault]:
    """From a host for agents to each inference server and back takes less than the site's target."""
    if "agents" not in host.roles:
        return
    serving = {each.name for each in site.hosts if "inference" in each.roles}
    for way in _ways(machine):
        took = way.small.round_trip_ms
        if way.ping.name in serving and took is not None and took >= site.targets.agent_round_trip_ms:
            yield forbids(
                f"takes {took:.2f} ms to {way.ping.name} and back ({way.ping.network}), and the target is "
                f"{site.targets.agent_round_trip_ms:g} ms",
                "Look for a router, firewall or slow link between, at interrupt coalescing and power saving",
            )


def no_firewall_stands_between(machine: Machine) -> Iterator[Fault]:
    """Ports of the cluster are refused at once while nothing listens on them; silence is a firewall's."""
    shut: dict[tuple[str, str], list[str]] = {}
    for door in machine.paths.doors:
        if door.answer not in {"open", "refused"}:
            shut.setdefault((f"{door.name} ({door.address})", door.answer), []).append(str(door.port))
    for (peer, answer), ports in shut.items():
        yield forbids(
            f"meets a firewall at {peer}, ports {', '.join(ports)} ({answer})",
            "Let the node network through on both (firewalld, ufw, nftables) and at the switch",
        )


def _ways(machine: Machine) -> Iterator[Way]:
    """The ways to all peers; the small packet of each was sent first."""
    pings = machine.paths.pings
    for ping in pings:
        if ping.bytes < ping.mtu:
            key = (ping.name, ping.network)
            full = next((each for each in pings if (each.name, each.network) == key and each.bytes == each.mtu), None)
            yield Way(full or ping, reached(ping), reached(full) if full else None)
