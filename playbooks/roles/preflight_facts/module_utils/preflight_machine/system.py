"""The operating system, memory, swap, time and names."""

from __future__ import annotations

import os
import platform
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .probes import time_offset
from .reading import run, text

ZRAM = ("/etc/systemd/zram-generator.conf", "/usr/lib/systemd/zram-generator.conf", "/etc/default/zramswap")
SWAP_UNITS = ["systemctl", "list-units", "--all", "--type=swap", "--plain", "--no-legend", "--no-pager"]
EFI = Path("/sys/firmware/efi")
SECURE_BOOT = EFI / "efivars" / "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
ANCESTORS = 32


def system() -> dict[str, Any]:
    """What runs here, and on how much."""
    mounts = (text("/proc/self/mounts") or "").splitlines()
    return {
        "os_release": text("/etc/os-release"),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "name": socket.gethostname(),
        "cgroup_mounts": "\n".join(line for line in mounts if " cgroup" in line),
        "meminfo": text("/proc/meminfo"),
        "cores": os.cpu_count(),
        "modules": [line.split(" ", 1)[0] for line in (text("/proc/modules") or "").splitlines()],
        "secure_boot": _secure_boot(),
    }


def swap() -> dict[str, Any]:
    """Swap that is on, and what would turn it on again."""
    return {
        "swaps": text("/proc/swaps"),
        "fstab": text("/etc/fstab"),
        "units": run(SWAP_UNITS),
        "zram": [file for file in ZRAM if Path(file).exists()],
    }


def clock(servers: list[str]) -> dict[str, Any]:
    """What keeps the time here, and how far it is from the site's own servers."""
    with ThreadPoolExecutor(8) as pool:
        offsets = dict(zip(servers, pool.map(time_offset, servers)))  # noqa: B905 - Python 3.9 has no strict
    return {
        "timedatectl": run(["timedatectl", "show"]),
        "chrony": run(["chronyc", "-n", "-c", "tracking"]),
        "servers": offsets,
    }


def lookups(wanted: list[str]) -> dict[str, Any]:
    """How names resolve, forwards and for whoever is logged in here backwards."""
    with ThreadPoolExecutor(8) as pool:
        found = dict(zip(wanted, pool.map(_look_up, wanted)))  # noqa: B905 - Python 3.9 has no strict
        client = _client()
        reverse = pool.submit(_reverse, client).result() if client else None
    return {"resolv_conf": text("/etc/resolv.conf"), "names": found, "reverse": reverse}


def _look_up(name: str) -> dict[str, Any]:
    started = time.monotonic()
    try:
        socket.getaddrinfo(name, 443, type=socket.SOCK_STREAM)
        error = ""
    except OSError as failed:
        error = failed.strerror or str(failed)
    return {"seconds": round(time.monotonic() - started, 3), "error": error}


def _reverse(address: str) -> dict[str, Any]:
    """How long sshd waits for the client's name; that there is none is no fault, if it is said at once."""
    started = time.monotonic()
    try:
        socket.gethostbyaddr(address)
        error = ""
    except OSError as failed:
        error = failed.strerror or str(failed)
    return {"address": address, "seconds": round(time.monotonic() - started, 3), "error": error}


def _client() -> str | None:
    """The address at the other end of this SSH session; sudo hides it, an ancestor still has it."""
    process = os.getpid()
    for _ in range(ANCESTORS):
        for variable in (text(f"/proc/{process}/environ") or "").split(" "):
            if variable.startswith("SSH_CONNECTION="):
                return variable.split("=", 1)[1]
        fields = (text(f"/proc/{process}/stat") or "").rpartition(")")[2].split()
        if len(fields) < 2 or int(fields[1]) <= 1:
            return None
        process = int(fields[1])
    return None


def _secure_boot() -> dict[str, Any]:
    """The firmware's own variable: four bytes of attributes, then 1 where Secure Boot is on."""
    try:
        value = list(SECURE_BOOT.read_bytes())
    except OSError:
        value = []
    return {"efi": EFI.is_dir(), "value": value}
