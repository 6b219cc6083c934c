"""How each port of a host works: queues, rings, and RoCE on the fast ports of the storage network."""

from typing import Any

from rackwright.metal.found_network import FoundNetwork
from rackwright.site.hosts import Host, Nic
from rackwright.site.rdma_ports import rdma_ports

RING = 8192  # packets; the program takes what the card has, if that is less
QUEUES = {25: 8, 50: 16, 100: 32}  # by Gb/s at most; 32 queues of 8192 jumbo packets may hold 2.4 GiB of memory
MOST_QUEUES = 48
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
    return nic in rdma_ports(host) and driver == ROCE_DRIVER
