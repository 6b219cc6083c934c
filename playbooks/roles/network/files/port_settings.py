#!/usr/bin/python3
"""Sets queues, rings, interrupts and RoCE of ports: [--check] PORT SETTINGS ..., where --check says how they differ."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

LINKS = Path("/sys/class/net")
INTERRUPTS = Path("/proc/irq")
CONFIGURED = Path("/sys/kernel/config/rdma_cm")
MODULES = Path("/sys/module")
FOR_PROGRAMS = ("rdma_ucm", "ib_umad")  # without their devices no program of a pod's is handed the port
ROCE_PRIORITY, ROCE_DSCP, ROCE_TOS = 3, 26, 106  # 106: DSCP 26, able to hear of congestion (ECT)
ROCE_MODE = "RoCE v2"


class Port:
    """One port; with `only_look`, what would be set is collected and nothing is."""

    def __init__(self, name: str, settings: dict[str, Any], only_look: bool) -> None:
        self.name = name
        self.settings = settings
        self.only_look = only_look
        self.device = LINKS / name / "device"
        self.differences: list[str] = []

    def set(self) -> None:
        """Everything that differs; what a card does not know is passed over."""
        self._figures("-l", "-L", {"combined": int(self.settings["queues"])})
        self._figures("-g", "-G", {"rx": int(self.settings["ring"]), "tx": int(self.settings["ring"])})
        self._place_interrupts()
        if self.settings["roce"]:
            self._roce()

    def _figures(self, ask: str, change: str, wished: dict[str, int]) -> None:
        """Figures of ethtool's: no more than the card has, no more queues than processors beside it."""
        said = subprocess.run(["ethtool", ask, self.name], check=False, stdout=subprocess.PIPE, text=True)
        most, now = (_figures(part) for part in said.stdout.partition("Current hardware settings:")[::2])
        for key, figure in wished.items():
            limit = min(most.get(key, 0), len(self._processors())) if key == "combined" else most.get(key, 0)
            if limit and now.get(key) not in (None, min(figure, limit)):
                self._run(f"{key} {now[key]}", "ethtool", change, self.name, key, str(min(figure, limit)))

    def _processors(self) -> list[int]:
        """Processors of the memory that the card is beside."""
        for folder in (self.device, self.device / ".."):
            text = _text(folder / "local_cpulist")
            if text:
                return _numbers(text)
        return sorted(os.sched_getaffinity(0))

    def _place_interrupts(self) -> None:
        """One processor after the other; those that the kernel keeps to itself it does not let go."""
        processors = self._processors()
        for number, interrupt in enumerate(self._interrupts()):
            place = INTERRUPTS / interrupt / "smp_affinity_list"
            wished = str(processors[number % len(processors)])
            if place.exists() and _text(place) != wished:
                self._write(place, wished, may_refuse=True)

    def _interrupts(self) -> list[str]:
        found = [path.name for folder in (self.device, self.device / "..") for path in folder.glob("msi_irqs/*")]
        return sorted(dict.fromkeys(found), key=int)

    def _roce(self) -> None:
        """Lossless by PFC on one priority, trusted by DSCP; heard of by ECN where the driver has a switch for it."""
        if "host" not in _said("dcb", "dcbx", "show", "dev", self.name):  # else the card's firmware decides
            self._run("DCBX", "dcb", "dcbx", "set", "dev", self.name, "host", "ieee")
        pfc = _said("dcb", "pfc", "show", "dev", self.name, "prio-pfc")
        if f"{ROCE_PRIORITY}:on" not in pfc or pfc.count(":on") != 1:
            self._run("PFC", "dcb", "pfc", "set", "dev", self.name, "prio-pfc", "all:off", f"{ROCE_PRIORITY}:on")
        if f"{ROCE_DSCP}:{ROCE_PRIORITY}" not in _said("dcb", "-N", "app", "show", "dev", self.name, "dscp-prio"):
            pair = f"{ROCE_DSCP}:{ROCE_PRIORITY}"
            self._run("DSCP", "dcb", "app", "replace", "dev", self.name, "dscp-prio", pair)
        for side in ("roce_np", "roce_rp"):  # only NVIDIA's own driver has it; the kernel's leaves it to the firmware
            switch = LINKS / self.name / "ecn" / side / "enable" / str(ROCE_PRIORITY)
            if switch.exists() and _text(switch) != "1":
                self._write(switch, "1")
        for device in sorted(path.name for path in (self.device / "infiniband").glob("*")):
            self._connections(device)
        for module in FOR_PROGRAMS:
            if not (MODULES / module).exists():
                self._run(f"no module {module}", "modprobe", module)

    def _connections(self, device: str) -> None:
        """RDMA connections that say nothing else are of RoCE v2 and of the lossless priority."""
        folder = CONFIGURED / device
        if not folder.exists() and not self.only_look:
            subprocess.run(["modprobe", "rdma_cm"], check=True)
            folder.mkdir(parents=True)  # which lets the kernel make the files below
        port = folder / "ports" / "1"
        for name, wished in (("default_roce_mode", ROCE_MODE), ("default_roce_tos", str(ROCE_TOS))):
            if _text(port / name) != wished:
                self._write(port / name, wished)

    def _run(self, what: str, *command: str) -> None:
        self.differences.append(f"{self.name}: {what}, and {' '.join(command[-2:])} is wished")
        if not self.only_look:
            subprocess.run(command, check=True)

    def _write(self, path: Path, text: str, may_refuse: bool = False) -> None:
        if not self.only_look:
            try:
                path.write_text(text)
            except OSError as error:
                if not may_refuse or error.errno not in (errno.EIO, errno.EPERM):
                    raise
        if not (may_refuse and self.only_look):
            self.differences.append(f"{path}: {text} is wished")


def _figures(text: str) -> dict[str, int]:
    return {key.lower(): int(value) for key, value in re.findall(r"^([A-Za-z ]+):\s*(\d+)$", text, re.MULTILINE)}


def _numbers(text: str) -> list[int]:
    """Processors out of the kernel's 0-3,8-11."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _said(*command: str) -> str:
    return subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True).stdout


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def main(arguments: list[str]) -> int:
    """0 where the ports are as they should be in the end."""
    only_look = arguments[0] == "--check"
    pairs = iter(arguments[1:] if only_look else arguments)
    differences: list[str] = []
    for name, settings in zip(pairs, pairs):  # noqa: B905 - Python 3.9 has no strict
        port = Port(name, json.loads(settings), only_look)
        port.set()
        differences += port.differences
    print("\n".join(differences))
    return 1 if only_look and differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
