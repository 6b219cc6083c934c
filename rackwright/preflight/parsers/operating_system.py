"""os-release, the kernel's version, and its control groups."""

import re
from typing import NamedTuple

from rackwright.preflight.seen import NotSeen


class Release(NamedTuple):
    """A distribution by its own name, e.g. ubuntu, and its release, e.g. 24.04."""

    name: str
    release: str


def release(os_release: str | None) -> Release:
    """The distribution out of /etc/os-release."""
    pairs = dict(line.split("=", 1) for line in (os_release or "").splitlines() if "=" in line)
    name, number = (pairs.get(key, "").strip().strip("\"'") for key in ("ID", "VERSION_ID"))
    if not name:
        raise NotSeen("The operating system", "/etc/os-release names none")
    return Release(name, number)


def kernel_version(kernel: str) -> tuple[int, int]:
    """Major and minor of `uname -r`."""
    match = re.match(r"(\d{1,4})\.(\d{1,4})", kernel, re.ASCII)
    if not match:
        raise NotSeen("The kernel's version", f"uname says {kernel[:40]!r}")
    return int(match[1]), int(match[2])


def cgroups_are_unified(mounts: str) -> bool:
    """True where /sys/fs/cgroup itself is cgroup v2, by the lines of /proc/self/mounts."""
    fields = [line.split() for line in mounts.splitlines()]
    if not any(len(each) > 2 for each in fields):
        raise NotSeen("Control groups", "none is mounted")
    return any(each[1:3] == ["/sys/fs/cgroup", "cgroup2"] for each in fields)


def secure_boot_is_on(value: tuple[int, ...]) -> bool:
    """The firmware's variable: four bytes of attributes, then the state."""
    return len(value) == 5 and value[4] == 1
