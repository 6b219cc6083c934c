"""Memory, large pages and swap."""

import re

from rackwright.preflight.answers import Swap
from rackwright.preflight.seen import NotSeen

KIB = 2**20  # of a GiB
LINE = re.compile(r"^(\w+)(?:\(\w+\))?:\s+(\d{1,15})(?: kB)?$", re.MULTILINE | re.ASCII)


def _values(meminfo: str | None) -> dict[str, int]:
    return {name: int(value) for name, value in LINE.findall(meminfo or "")}


def memory_gib(meminfo: str | None) -> float:
    """What the kernel has, in GiB: a little less than what is built in."""
    values = _values(meminfo)
    if not values.get("MemTotal"):
        raise NotSeen("Memory", "/proc/meminfo has no MemTotal")
    return values["MemTotal"] / KIB


def huge_pages_gib(meminfo: str | None) -> float:
    """What is set aside as huge pages of the default size, in GiB."""
    values = _values(meminfo)
    return values.get("HugePages_Total", 0) * values.get("Hugepagesize", 0) / KIB


def swap_in_use(swap: Swap) -> list[str]:
    """Devices and files that are swapped to."""
    lines = (swap.swaps or "").splitlines()[1:]
    return [line.split()[0] for line in lines if line.split()]


def swap_that_returns(swap: Swap) -> list[str]:
    """What turns swap on at the next boot: fstab, units, zram."""
    entries = [line.split() for line in (swap.fstab or "").splitlines() if not line.lstrip().startswith("#")]
    found = [f"{entry[0]} in /etc/fstab" for entry in entries if len(entry) > 2 and entry[2] == "swap"]
    units = [line.split() for line in swap.units.out.splitlines()]
    found += [unit[0] for unit in units if len(unit) > 2 and unit[0].endswith(".swap") and unit[2] == "active"]
    return found + list(swap.zram)
