"""How each port of a host works: queues, rings, and RoCE on the fast ports of the storage network."""

from typing import Any

from rackwright.metal.found_network import FoundNetwork
from rackwright.site.hosts import Host, Nic

RING = 8192  # packets; the program takes what the card has, if that is less
QUEUES = {25: 8, 50: 16, 100: 32}  # by Gb/s at most; 32 queues of 8192 jumbo packets may hold 2.4 GiB of memory
MOST_QUEUES = 48
ROCE_GBPS = 100
ROCE_DRIVER = "mlx5_core"


def port_settings(host: Host, facts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the program port-settings is told of each port, by the port's name; drivers are those found."""
    found = FoundNetwork.of(facts)
    drivers = {nic.name: _driver(nic, found) for nic in host.nics}
    return {
        nic.name: {
            "queues": next((queues for most, queues in QUEUES.items() if nic.speed_gbps <= most), MOST_QUEUES),
            "ring": RING,
            "driver": drivers[nic.name],
            "roce": _is_for_roce(host, nic, drivers[nic.name]),
        }
        for nic in host.nics
    }


def _driver(nic: Nic, found: FoundNetwork) -> str:
    key, wished = ("mac", nic.mac) if nic.mac else ("path", nic.path)
    return next((port["driver"] for port in found.ports.values() if port[key] == wished), "")


def _is_for_roce(host: Host, nic: Nic, driver: str) -> bool:
    """RoCE asks for lossless queues, which only the storage network's switches have, and fast cards are worth."""
    over = {nic.name, *(bond.name for bond in host.bonds if nic.name in bond.nics)}
    networks = {port.network for port in host.ports if port.name in over}
    networks |= {vlan.network for vlan in host.vlans if vlan.over in over}
    return "storage" in networks and nic.speed_gbps >= ROCE_GBPS and driver == ROCE_DRIVER
