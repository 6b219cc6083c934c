"""Drives: by which names they go, what is on them, and who uses them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .reading import names, run

BY_ID = Path("/dev/disk/by-id")
COLUMNS = "NAME,KNAME,PATH,TYPE,SIZE,FSTYPE,PTTYPE,SERIAL,MODEL,MOUNTPOINTS"


def disks(wanted: list[str]) -> dict[str, Any]:
    """Every drive as lsblk shows it; signatures of those that the site names."""
    known = {str(BY_ID / name): os.path.realpath(BY_ID / name) for name in names(BY_ID) if "-part" not in name}
    found = {path: os.path.realpath(path) for path in wanted if os.path.exists(path)}  # noqa: PTH110 - texts
    return {
        "block_devices": run(["lsblk", "-J", "-b", "-o", COLUMNS]),
        "names": {**known, **found},
        "signatures": {path: run(["wipefs", "-n", "-J", device]) for path, device in found.items()},
        "volume_groups": run(["pvs", "--readonly", "--reportformat", "json", "-o", "pv_name,vg_name"]),
    }
