"""The network of a Debian host, as files of systemd-networkd; names of ports come this way on every system."""

from collections.abc import Iterable, Mapping

from rackwright.metal.ini import Section, ini
from rackwright.metal.links import Link

FOLDER = "/etc/systemd/network"
PREFIX = "05-rackwright-"  # before installers' 10-, netplan's 10-netplan- and the system's 99-: the first match holds


def port_names(links: Iterable[Link]) -> dict[str, str]:
    """A .link file for each port: udev gives it its name, by its own MAC address or its place on the bus."""
    found = {}
    for link in links:
        if link.kind == "port":
            known = ("PermanentMACAddress", link.mac) if link.mac else ("Path", link.path or "")
            match = (known, ("Type", "!vlan bond bridge"))  # a VLAN over the port bears its MAC address
            found[f"{FOLDER}/{PREFIX}{link.name}.link"] = ini((("Match", match), ("Link", (("Name", link.name),))))
    return found


def files(links: tuple[Link, ...]) -> dict[str, str]:
    """Files by their path."""
    found = port_names(links)
    for link in links:
        start = f"{FOLDER}/{PREFIX}{link.name}"
        if link.kind != "port":
            found[f"{start}.netdev"] = ini(_device(link))
        found[f"{start}.network"] = ini(_settings(link))
    return found


def in_the_way(found: Mapping[str, str], links: tuple[Link, ...]) -> dict[str, None]:
    """Other people's devices of our names; their .network files come after ours and find nothing to match."""
    made = {link.name for link in links if link.kind != "port"}
    return {
        path: None
        for path, text in found.items()
        if path.startswith(f"{FOLDER}/") and path.endswith(".netdev") and not _is_ours(path) and made & _names(text)
    }


def _is_ours(path: str) -> bool:
    return path.rpartition("/")[2].startswith(PREFIX)


def _names(text: str) -> set[str]:
    return {line.partition("=")[2].strip() for line in text.splitlines() if line.strip().startswith("Name=")}


def _device(link: Link) -> tuple[Section, ...]:
    device = [("Name", link.name), ("Kind", link.kind), ("MTUBytes", str(link.mtu))]
    if link.kind == "vlan":
        return (("NetDev", tuple(device)), ("VLAN", (("Id", str(link.tag)),)))
    if link.mac:
        device.append(("MACAddress", link.mac))
    bond = (
        ("Mode", "802.3ad"),
        ("TransmitHashPolicy", "layer3+4"),
        ("LACPTransmitRate", "fast"),
        ("MIIMonitorSec", "100ms"),
    )
    return (("NetDev", tuple(device)), ("Bond", bond))


def _settings(link: Link) -> tuple[Section, ...]:
    return (
        ("Match", (("Name", link.name),)),
        ("Link", (("MTUBytes", str(link.mtu)), ("RequiredForOnline", "yes" if link.is_needed else "no"))),
        ("Network", (("Bond", link.bond),) if link.bond else _network(link)),
        ("Route", _route(link)),
    )


def _network(link: Link) -> tuple[tuple[str, str], ...]:
    """An address stays without a carrier: a node whose switch reboots keeps its API server and its etcd."""
    keys = [("DHCP", "no"), ("IPv6AcceptRA", "no"), ("ConfigureWithoutCarrier", "yes")]
    if link.address:
        keys.append(("Address", str(link.address)))
    else:
        keys.append(("LinkLocalAddressing", "no"))
    keys += [("VLAN", vlan) for vlan in link.vlans]
    if link.name_servers:
        keys += [("DNS", server) for server in link.name_servers]
        keys.append(("Domains", "~."))
    return tuple(keys)


def _route(link: Link) -> tuple[tuple[str, str], ...]:
    if link.gateway is None:
        return ()
    metric = (("Metric", str(link.metric)),) if link.metric else ()
    return (("Gateway", str(link.gateway)), *metric)
