"""GPUs, switches and the bridges above them, as the kernel shows them; lspci is not on every server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .reading import names, run, text, word

DEVICES = Path("/sys/bus/pci/devices")
NVIDIA = "0x10de"
EXTENDED = 0x100  # where a device's extended capabilities begin; what is below is all that a user may read
ACCESS_CONTROL = 0x000D


def gpus() -> dict[str, Any]:
    """NVIDIA's devices with the bridges above them, and the driver that is there."""
    devices = [_device(DEVICES / name) for name in names(DEVICES) if word(DEVICES / name / "vendor") == NVIDIA]
    above = sorted({bridge for device in devices for bridge in device["bridges"]})
    return {
        "devices": devices,
        "bridges": {bridge: _access_control(DEVICES / bridge / "config") for bridge in above},
        "driver_version": text("/proc/driver/nvidia/version"),
        "module": run(["modinfo", "nvidia"]),
        "iommu_groups": len(names("/sys/kernel/iommu_groups")),
    }


def _device(path: Path) -> dict[str, Any]:
    driver = path / "driver"
    return {
        "address": path.name,
        "device": word(path / "device"),
        "class": word(path / "class"),
        "driver": os.path.basename(os.path.realpath(driver)) if driver.exists() else "",  # noqa: PTH119 - a name
        "bridges": [part for part in os.path.realpath(path).split("/")[:-1] if part.count(":") == 2],
    }


def _access_control(config: Path) -> dict[str, Any]:
    """A bridge's ACS control register: nothing where it has none, and not read where only root may."""
    try:
        space = config.read_bytes()
    except OSError:
        space = b""
    if len(space) <= EXTENDED:
        return {"read": os.geteuid() == 0, "control": None}
    offset, seen = EXTENDED, set()
    while EXTENDED <= offset <= len(space) - 8 and offset not in seen:
        seen.add(offset)
        header = int.from_bytes(space[offset : offset + 4], "little")
        if header & 0xFFFF == ACCESS_CONTROL:
            return {"read": True, "control": int.from_bytes(space[offset + 6 : offset + 8], "little")}
        offset = header >> 20 & 0xFFC
    return {"read": True, "control": None}
