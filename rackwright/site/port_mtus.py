"""The MTU of each of a host's links."""

from rackwright.site.hosts import Host, NetworkName
from rackwright.site.networks import Networks
from rackwright.site.port_names import vlan_name

UNUSED = 1500  # of a port that carries nothing


def port_mtus(host: Host, networks: Networks) -> dict[str, int]:
    """By link: its untagged network's MTU, else the largest of the VLANs over it; a bond's ports have the bond's."""
    sizes: dict[NetworkName, int] = {"nodes": networks.nodes.mtu}
    if networks.storage is not None:
        sizes["storage"] = networks.storage.mtu
    found = {vlan_name(vlan): sizes.get(vlan.network, UNUSED) for vlan in host.vlans}
    bonded = {name: bond.name for bond in host.bonds for name in bond.nics}
    for port in reversed(host.ports):  # bonds before their ports
        tagged = [found[vlan_name(vlan)] for vlan in host.vlans if vlan.over == port.name]
        own = sizes.get(port.network, UNUSED) if port.network else max(tagged, default=UNUSED)
        found[port.name] = found[bonded[port.name]] if port.name in bonded else own
    return found
