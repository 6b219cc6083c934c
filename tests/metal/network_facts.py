"""Facts of a server as its installer left it: kernel's names, one address, nothing of ours."""

from typing import Any

from rackwright.site.hosts import Host
from rackwright.site.networks import Networks
from rackwright.site.operating_system import OperatingSystem

NETWORKS = Networks.model_validate(
    {
        "nodes": {"cidr": "10.20.0.0/24", "mtu": 9000, "gateway": "10.20.0.1"},
        "storage": {"cidr": "10.20.1.0/24", "mtu": 4200},
        "name_servers": ["10.20.0.2", "10.20.0.3"],
        "time_servers": ["10.20.0.2"],
    }
)
SYSTEMS = {
    "netplan": OperatingSystem(name="ubuntu", release="24.04"),
    "networkd": OperatingSystem(name="debian", release="13"),
    "network_manager": OperatingSystem(name="rocky", release="9"),
}
HOST: dict[str, Any] = {
    "name": "gpu-01",
    "address": "10.20.0.11",
    "storage_address": "10.20.1.11",
    "roles": ["inference"],
    "cores": 64,
    "memory_gib": 512,
    "nics": [
        {"name": "node0", "mac": "b8:3f:d2:00:01:10", "speed_gbps": 25},
        {"name": "node1", "mac": "b8:3f:d2:00:01:11", "speed_gbps": 25},
        {"name": "fabric0", "path": "pci-0000:1b:00.0", "speed_gbps": 100, "network": "storage"},
        {"name": "spare0", "mac": "b8:3f:d2:00:01:13", "speed_gbps": 10},
    ],
    "bonds": [{"name": "bond0", "nics": ["node0", "node1"], "network": "nodes"}],
}
PORTS = {
    "enp65s0f0": {"mac": "b8:3f:d2:00:01:10", "path": "pci-0000:41:00.0", "driver": "mlx5_core"},
    "enp65s0f1": {"mac": "b8:3f:d2:00:01:11", "path": "pci-0000:41:00.1", "driver": "mlx5_core"},
    "enp27s0": {"mac": "b8:3f:d2:00:01:12", "path": "pci-0000:1b:00.0", "driver": "mlx5_core"},
    "eno1": {"mac": "b8:3f:d2:00:01:13", "path": "pci-0000:02:00.0", "driver": "igb"},
    "eno2": {"mac": "b8:3f:d2:00:01:14", "path": "pci-0000:02:00.1", "driver": "igb"},  # of no concern to the site
}


def host(**changed: Any) -> Host:
    """The server, with some of its keys replaced."""
    return Host.model_validate({**HOST, **changed})


def fresh(files: dict[str, str] | None = None) -> dict[str, Any]:
    """What is found on it before anything was done."""
    links = [{"ifname": name, "mtu": 1500, "address": port["mac"]} for name, port in PORTS.items()]
    address = {"ifname": "enp65s0f0", "addr_info": [{"family": "inet", "local": "10.20.0.11", "prefixlen": 24}]}
    return {
        "ports": PORTS,
        "links": links,
        "addresses": [address],
        "routes": [{"gateway": "10.20.0.1", "dev": "enp65s0f0"}],
        "files": files or {},
        "name_servers": ["192.0.2.53"],
    }


def converged(files: dict[str, str | None]) -> dict[str, Any]:
    """What is found once the role has done its work on `host()`."""
    names = {"enp65s0f0": "node0", "enp65s0f1": "node1", "enp27s0": "fabric0", "eno1": "spare0", "eno2": "eno2"}
    sizes = {"node0": 9000, "node1": 9000, "fabric0": 4200, "spare0": 1500, "eno2": 1500}
    bond = {"mode": "802.3ad", "xmit_hash_policy": "layer3+4", "ad_lacp_rate": "fast"}
    partner = {"ad_info": {"partner_mac": "00:1c:73:00:00:01"}}
    links: list[dict[str, Any]] = [{"ifname": name, "mtu": mtu} for name, mtu in sizes.items()]
    for link in links[:2]:
        link["master"] = "bond0"
    links.append({"ifname": "bond0", "mtu": 9000, "linkinfo": {"info_kind": "bond", "info_data": {**bond, **partner}}})
    addresses = {"bond0": "10.20.0.11", "fabric0": "10.20.1.11"}
    return {
        "ports": {names[name]: port for name, port in PORTS.items()},
        "links": links,
        "addresses": [
            {"ifname": name, "addr_info": [{"family": "inet", "local": address, "prefixlen": 24}]}
            for name, address in addresses.items()
        ],
        "routes": [{"gateway": "10.20.0.1", "dev": "bond0"}],
        "files": {path: text for path, text in files.items() if text is not None},
        "name_servers": ["10.20.0.2", "10.20.0.3"],
    }
