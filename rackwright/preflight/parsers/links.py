"""`ip -j`: ports, addresses and the default route."""

from ipaddress import IPv4Address

from rackwright.preflight.answers import Network
from rackwright.preflight.parsers.tables import Row, table

PORTS = "Network ports"


class Kind(Row):
    """What a link is made as."""

    info_kind: str = ""


class Link(Row):
    """One link as it is now."""

    ifname: str
    mtu: int = 0
    address: str = ""
    permaddr: str = ""
    master: str = ""
    operstate: str = ""
    linkinfo: Kind = Kind()

    @property
    def mac(self) -> str:
        """The address that the port was built with; in a bond it wears another."""
        return (self.permaddr or self.address).lower()


class Inet(Row):
    """An address."""

    family: str = ""
    local: str = ""
    prefixlen: int = 0


class Addressed(Row):
    """A link with its addresses."""

    ifname: str = ""
    addr_info: tuple[Inet, ...] = ()


class Route(Row):
    """A route."""

    gateway: str = ""
    dev: str = ""


def links(network: Network) -> dict[str, Link]:
    """Links by the name that they have now."""
    found: tuple[Link, ...] = table(PORTS, "ip link", network.links, tuple[Link, ...])
    return {link.ifname: link for link in found}


def link_with(network: Network, address: IPv4Address) -> str | None:
    """The link that bears an address; nothing where none does."""
    found: tuple[Addressed, ...] = table("Addresses", "ip address", network.addresses, tuple[Addressed, ...])
    return next((link.ifname for link in found for each in link.addr_info if each.local == str(address)), None)


def default_routes(network: Network) -> tuple[Route, ...]:
    """Default routes."""
    found: tuple[Route, ...] = table("The default route", "ip route", network.default_routes, tuple[Route, ...])
    return found


def speed_gbps(word: str) -> float | None:
    """A link's speed out of sysfs, where it stands in Mb/s; nothing where the link is down."""
    try:
        speed = int(word)
    except ValueError:
        return None
    return speed / 1000 if speed > 0 else None
