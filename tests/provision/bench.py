"""A site whose host has a bond over two ports and a port by its place."""

from pathlib import Path
from typing import Any

import yaml

WORKSTATION = Path(__file__).resolve().parents[2] / "inventory" / "workstation" / "site.yml"
MTU = 9000


def bench(folder: Path, **host: Any) -> Path:
    """The workstation's site with more ports, in a folder of its own; keywords replace keys of the host."""
    site = yaml.safe_load(WORKSTATION.read_text())
    site["networks"]["nodes"]["mtu"] = MTU
    site["networks"]["storage"] = {"cidr": "192.168.41.0/24", "mtu": MTU}
    site["hosts"][0] |= {
        "storage_address": "192.168.41.20",
        "nics": [
            {"name": "lan0", "mac": "a0:36:9f:00:00:20", "speed_gbps": 25},
            {"name": "lan1", "mac": "a0:36:9f:00:00:21", "speed_gbps": 25},
            {"name": "fabric0", "path": "pci-0000:5e:00.0", "speed_gbps": 100, "network": "storage"},
        ],
        "bonds": [{"name": "bond0", "nics": ["lan0", "lan1"], "network": "nodes"}],
        **host,
    }
    folder.mkdir(parents=True)
    (folder / "site.yml").write_text(yaml.safe_dump(site, sort_keys=False))
    return folder
