"""The part of preflight that runs on a machine, imported as the machine imports it."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "playbooks" / "roles" / "preflight_facts" / "module_utils"
sys.path.insert(0, str(MODULE))

from preflight_machine import network, packages, pci, probes, reading, services, storage, system  # noqa: E402
from preflight_machine.ask import ask  # noqa: E402

__all__ = ["MODULE", "ask", "network", "packages", "pci", "probes", "reading", "services", "storage", "system"]
QUESTIONS = {
    "time_servers": [],
    "names": ["localhost"],
    "disks": ["/dev/disk/by-id/nvme-none"],
    "peers": [],
    "doors": [],
    "packages": ["linux-headers-{kernel}", "gcc"],
    "urls": [],
    "flush_folder": "",
    "token_salt": "s4lt",
}
