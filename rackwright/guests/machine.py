"""What this machine has to give to guests."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.guests.hardware import Size
from rackwright.site.hosts import Host

KVM = Path("/dev/kvm")
SPARE_MIB = 1024  # for the machine itself and what steers the guests
OVERHEAD_MIB = 700  # an emulator beside its guest's memory, most of it for translated code


def free_mib() -> int:
    """Memory that can be taken without swapping."""
    lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
    return int(lines["MemAvailable"].split()[0]) // 1024


def how_many(size: Size, free: int) -> int:
    """How many guests of a size fit into so much memory."""
    return max(0, (free - SPARE_MIB) // (size.memory_mib + OVERHEAD_MIB))


def demand_memory(hosts: Sequence[Host], size: Size, free: int) -> None:
    """Refusal where the guests need more memory than there is."""
    fit = how_many(size, free)
    if len(hosts) > fit:
        names = ",".join(host.name for host in hosts[:fit])
        some = f"Name those that matter: --host {names}" if fit else "End other programs, or take a larger machine"
        raise Refusal(
            f"{len(hosts)} guests of {size.memory_mib} MiB do not fit into the {free} MiB that are free: {fit} would.",
            f"{some}.",
        )


def accelerator(configured: str | None = None) -> str:
    """`kvm` where the user wishes it and may use it, else `tcg`: emulation works everywhere, ten times slower.

    RACKWRIGHT_KVM=1 asks for KVM; it is not taken unasked, since a virtual machine may offer one that does not work.
    """
    wish = os.environ.get("RACKWRIGHT_KVM", "") if configured is None else configured
    if wish != "1":
        return "tcg"
    if not os.access(KVM, os.R_OK | os.W_OK):
        raise Refusal(f"RACKWRIGHT_KVM=1 asks for KVM, and {KVM} may not be used.", "Join the group kvm, or unset it.")
    return "kvm"
