"""The network of a RHEL or Rocky host, as keyfiles of NetworkManager; ports get their names by .link files of ours."""

from collections.abc import Collection, Mapping
from uuid import NAMESPACE_OID, uuid5

from rackwright.metal.ini import Section, ini
from rackwright.metal.links import Link

FOLDER = "/etc/NetworkManager/system-connections"
OLD_FOLDER = "/etc/sysconfig/network-scripts"
NAMING_KEYS = ("interface-name", "mac-address", "device", "hwaddr", "master", "controller", "parent")
TYPES = {"port": "ethernet", "bond": "bond", "vlan": "vlan"}


def files(links: tuple[Link, ...]) -> dict[str, str]:
    """Keyfiles by their path."""
    return {f"{FOLDER}/rackwright-{link.name}.nmconnection": ini(_profile(link)) for link in links}


def in_the_way(
    found: Mapping[str, str], links: tuple[Link, ...], names: Collection[str], macs: Collection[str]
) -> dict[str, None]:
    """Other profiles of the site's ports: of two for one port, NetworkManager takes the one that was used last."""
    taken = {*names, *macs, *(link.name for link in links)}
    ours = set(files(links))
    return {path: None for path, text in found.items() if path not in ours and _is_profile(path) and taken & _of(text)}


def _is_profile(path: str) -> bool:
    return path.startswith((f"{FOLDER}/", f"{OLD_FOLDER}/ifcfg-"))


def _of(text: str) -> set[str]:
    """Ports that a keyfile or an ifcfg file speaks of."""
    pairs = (line.partition("=") for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {value.strip().strip("\"'").lower() for key, _, value in pairs if key.strip().lower() in NAMING_KEYS}


def _profile(link: Link) -> tuple[Section, ...]:
    connection = [
        ("id", f"rackwright-{link.name}"),
        ("uuid", str(uuid5(NAMESPACE_OID, f"rackwright {link.name}"))),
        ("type", TYPES[link.kind]),
        ("interface-name", link.name),
        ("autoconnect", "true"),
        ("autoconnect-priority", "100"),
    ]
    if link.bond:
        connection += [("master", link.bond), ("slave-type", "bond")]  # 1.46 knows controller, and still these
    if link.kind == "bond":
        connection.append(("autoconnect-slaves", "1"))
    ethernet = [("mtu", str(link.mtu))]
    if link.kind == "bond" and link.mac:
        ethernet.append(("cloned-mac-address", link.mac))
    addressed: tuple[Section, ...] = () if link.bond else (("ipv4", _ipv4(link)), ("ipv6", _ipv6(link)))
    return (("connection", tuple(connection)), ("ethernet", tuple(ethernet)), *_kind(link), *addressed)


def _kind(link: Link) -> tuple[Section, ...]:
    if link.kind == "bond":
        options = (("mode", "802.3ad"), ("lacp_rate", "fast"), ("miimon", "100"), ("xmit_hash_policy", "layer3+4"))
        return (("bond", options),)
    if link.kind == "vlan":
        return (("vlan", (("id", str(link.tag)), ("parent", link.over or ""), ("flags", "1"))),)
    return ()


def _ipv4(link: Link) -> tuple[tuple[str, str], ...]:
    if link.address is None:
        return (("method", "disabled"),)
    keys = [("method", "manual"), ("address1", str(link.address))]
    if link.gateway is not None:
        keys.append(("gateway", str(link.gateway)))
    if link.metric:
        keys.append(("route-metric", str(link.metric)))
    if link.name_servers:
        keys.append(("dns", "".join(f"{server};" for server in link.name_servers)))
    return tuple(keys)


def _ipv6(link: Link) -> tuple[tuple[str, str], ...]:
    return (("method", "link-local" if link.address else "disabled"),)
