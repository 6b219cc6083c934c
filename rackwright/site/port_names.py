"""Names of network ports: which are taken, and which of a host's ports carries which network."""

import re
from collections.abc import Iterator

from rackwright.site.hosts import Host, NetworkName, Vlan

LONGEST = 15
TAKEN = re.compile(
    r"lo|(eth|wlan)[0-9]+|en[ops][0-9].*|enx[0-9a-f]{12}"  # the kernel's and udev's own
    r"|cni[0-9]+|flannel[.-].*|cali.*|cilium_.*|lxc.*|veth.*|kube-.*|nodelocaldns|docker[0-9]+|tunl[0-9]+|virbr[0-9]+"
)


def is_taken(name: str) -> bool:
    """True for a name that the kernel, udev or a cluster's network gives out by itself."""
    return TAKEN.fullmatch(name) is not None


def vlan_name(vlan: Vlan) -> str:
    """The name of a VLAN's link, such as bond0.120; shortened to the 15 characters that the kernel allows."""
    tag = f".{vlan.id}"
    return f"{vlan.over[: LONGEST - len(tag)]}{tag}"


def carriers(host: Host) -> Iterator[tuple[NetworkName, str]]:
    """Each network that a host carries, with the port, bond or VLAN that does; what a bond carries counts once."""
    bonded = {name: bond.network for bond in host.bonds for name in bond.nics}
    for port in host.ports:
        if port.network is not None and bonded.get(port.name) != port.network:
            yield port.network, port.name
    for vlan in host.vlans:
        yield vlan.network, vlan_name(vlan)
