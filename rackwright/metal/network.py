"""What the network of a host is to be, as files of its system, and how the host differs from that."""

from collections.abc import Iterator
from typing import Any, Literal

from rackwright.errors import Refusal
from rackwright.metal import ifupdown, netplan, network_manager, networkd
from rackwright.metal.found_network import FoundNetwork
from rackwright.metal.links import Link, links
from rackwright.site.hosts import Host
from rackwright.site.networks import Networks
from rackwright.site.operating_system import OperatingSystem

Daemon = Literal["netplan", "networkd", "network_manager"]
DAEMONS: dict[str, Daemon] = {
    "ubuntu": "netplan",
    "debian": "networkd",
    "rocky": "network_manager",
    "rhel": "network_manager",
}
CLOUD_INIT = "/etc/cloud/cloud.cfg.d/99-rackwright-network.cfg"
SERVICES = ("kubelet", "k3s")
BOND_MODE, BOND_HASH, BOND_RATE = "802.3ad", "layer3+4", "fast"


def change(host: Host, networks: Networks, system: OperatingSystem, facts: dict[str, Any]) -> dict[str, Any]:
    """What the module network_plan and the program network-change are told; Refusal where a port is not there."""
    found = FoundNetwork.of(facts)
    wished = links(host, networks, found.name_servers)
    _refuse_missing(wished, found)
    daemon = DAEMONS[system.name]
    return {
        "daemon": daemon,
        "files": _files(daemon, wished, found),
        "names": {found.present_name(link): link.name for link in wished if link.kind == "port"},
        "built": [link.name for link in wished if link.kind != "port"],
        "differences": list(differences(wished, found)),
        "gateways": [str(link.gateway) for link in wished if link.gateway and link.is_needed],
    }


def network_differences(host: Host, networks: Networks, facts: dict[str, Any]) -> list[str]:
    """How the running network differs from the site, one sentence each."""
    found = FoundNetwork.of(facts)
    return list(differences(links(host, networks, found.name_servers), found))


def lonely_bonds(host: Host, facts: dict[str, Any]) -> list[str]:
    """Bonds without a partner: where the switch does not speak LACP, one port does all the work."""
    found = FoundNetwork.of(facts)
    partners = {bond.name: _partner(found.link(bond.name)) for bond in host.bonds}
    return [name for name, partner in partners.items() if not partner.strip("0:")]


def peers(host: Host, networks: Networks, others: list[Host]) -> list[dict[str, Any]]:
    """Each other host at its address on each network that both are in, with the network's MTU."""
    found = []
    for other in others:
        if other.name != host.name:
            found.append({"name": other.name, "address": str(other.address), "mtu": networks.nodes.mtu})
            if networks.storage and host.storage_address and other.storage_address:
                address = str(other.storage_address)
                found.append({"name": other.name, "address": address, "mtu": networks.storage.mtu})
    return found


def in_service(said: str) -> str:
    """Which of the services that run pods is at work; `said` is what `systemctl is-active` says of each, in order."""
    states = zip(SERVICES, said.split(), strict=False)  # nothing at all where systemd does not answer
    return " and ".join(service for service, state in states if state == "active")


def _partner(link: dict[str, Any]) -> str:
    data = link.get("linkinfo", {}).get("info_data", {})
    return str(data.get("ad_info", {}).get("partner_mac", ""))


def differences(wished: tuple[Link, ...], found: FoundNetwork) -> Iterator[str]:
    """Names, sizes, bonds, tags, addresses and routes; a carrier is not configuration, and preflight looks at it."""
    for link in wished:
        there = found.link(link.name)
        if link.kind == "port" and (now := found.present_name(link)) != link.name:
            yield f"{link.name} is called {now or 'nothing: it is not there'}"
        elif not there:
            yield f"{link.name} is not there"
        else:
            yield from _differences_of(link, there, found)


def _differences_of(link: Link, there: dict[str, Any], found: FoundNetwork) -> Iterator[str]:
    if there.get("mtu") != link.mtu:
        yield f"{link.name} has MTU {there.get('mtu')}, and {link.mtu} is wished"
    if (there.get("master") or None) != link.bond:
        yield f"{link.name} is in {there.get('master') or 'no bond'}, and {link.bond or 'none'} is wished"
    data = there.get("linkinfo", {}).get("info_data", {})
    if link.kind == "vlan" and (data.get("id"), there.get("link")) != (link.tag, link.over):
        yield f"{link.name} is tag {data.get('id')} over {there.get('link')}, and {link.tag} over {link.over} is wished"
    if link.kind == "bond":
        is_so = (data.get("mode"), data.get("xmit_hash_policy"), data.get("ad_lacp_rate"))
        if is_so != (BOND_MODE, BOND_HASH, BOND_RATE):
            yield f"{link.name} is a bond of {'/'.join(str(each) for each in is_so)}, and LACP is wished"
    have = found.addresses_at(link.name)
    wish = {str(link.address)} if link.address else set()
    if wish - have:
        yield f"{link.name} bears {', '.join(sorted(have)) or 'no address'}, and {link.address} is wished"
    if link.gateway and not any(
        route.get("gateway") == str(link.gateway) and route.get("dev") == link.name for route in found.routes
    ):
        yield f"{link.name} has no default route over {link.gateway}"


def _refuse_missing(wished: tuple[Link, ...], found: FoundNetwork) -> None:
    missing = [link for link in wished if link.kind == "port" and found.present_name(link) is None]
    if missing:
        raise Refusal(
            f"The host has no port {', '.join(f'{link.name} ({link.mac or link.path})' for link in missing)}.",
            "Run rackwright preflight, which lists the ports that it has; correct mac or path in the site file.",
        )


def _files(daemon: Daemon, wished: tuple[Link, ...], found: FoundNetwork) -> dict[str, str | None]:
    """Files by path; nothing in place of a text takes a file away."""
    ports = [link for link in wished if link.kind == "port"]
    names = {name for link in ports if (name := found.present_name(link))} | {link.name for link in wished}
    macs = {found.ports[name]["mac"] for link in ports if (name := found.present_name(link))}
    others: dict[str, str | None] = dict(networkd.in_the_way(found.files, wished))
    others |= ifupdown.in_the_way(found.files, names)
    if CLOUD_INIT in found.files:  # the module reports it, empty, where cloud-init would write its own network again
        others[CLOUD_INIT] = "network: {config: disabled}\n"
    if daemon == "netplan":
        others |= netplan.in_the_way(found.files, wished, names, macs)
        return {**_stale(found), **others, **networkd.port_names(wished), **netplan.files(wished)}
    if daemon == "network_manager":
        others |= network_manager.in_the_way(found.files, wished, names, macs)
        return {**_stale(found), **others, **networkd.port_names(wished), **network_manager.files(wished)}
    return {**_stale(found), **others, **networkd.files(wished)}


def _stale(found: FoundNetwork) -> dict[str, str | None]:
    """Files of ours that an earlier site file asked for, such as those of a bond that is no more."""
    starts = (f"{networkd.FOLDER}/{networkd.PREFIX}", f"{network_manager.FOLDER}/rackwright-", netplan.FILE)
    return {path: None for path in found.files if path.startswith(starts)}
