"""What a machine must have to boot guests, and how to get what it lacks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from rackwright.errors import Refusal

# Programs, and the package of each on Debian and Ubuntu, then on RHEL and Rocky.
TO_BOOT: Mapping[str, tuple[str, str]] = {
    "qemu-system-x86_64": ("qemu-system-x86", "qemu-kvm"),
    "qemu-img": ("qemu-utils", "qemu-img"),
    "ssh": ("openssh-client", "openssh-clients"),
    "ssh-keygen": ("openssh-client", "openssh-clients"),
    "ip": ("iproute2", "iproute"),
    "nsenter": ("util-linux", "util-linux"),
    "setpriv": ("util-linux", "util-linux"),
    "unshare": ("util-linux", "util-linux"),
}
TO_MAKE_THE_IMAGE: Mapping[str, tuple[str, str]] = {
    "debootstrap": ("debootstrap", "debootstrap"),
    "chroot": ("coreutils", "coreutils"),
    "mkfs.ext4": ("e2fsprogs", "e2fsprogs"),
}
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
TUN = Path("/dev/net/tun")
ELSEWHERE = {"qemu-system-x86_64": ("/usr/libexec/qemu-kvm",)}
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # not on every user's PATH


def program(name: str) -> str | None:
    """Where a program is."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS))
    return shutil.which(name, path=path) or next(
        (other for other in ELSEWHERE.get(name, ()) if Path(other).exists()), None
    )


def path_of(name: str) -> str:
    """Where a program is; Refusal with the package that brings it."""
    found = program(name)
    if found is None:
        raise _lacking([name])
    return found


def lacking(names: Iterable[str]) -> list[str]:
    """Those of the programs that are not there."""
    return [name for name in names if program(name) is None]


def demand_to_boot() -> None:
    """Refusal where guests cannot be booted here."""
    if missing := lacking(TO_BOOT):
        raise _lacking(missing)
    if not TUN.exists():
        raise Refusal(
            f"There is no {TUN}, through which the guests' networks reach this machine.", "Say: modprobe tun."
        )
    if not os.access(TUN, os.R_OK | os.W_OK):
        raise Refusal(f"{TUN} may not be opened by this user.", f"Say as root: chmod 666 {TUN}, or run this as root.")


def demand_to_make_the_image() -> None:
    """Refusal where the guests' image cannot be made here."""
    if missing := lacking(TO_MAKE_THE_IMAGE):
        raise _lacking(missing)
    if not KEYRING.exists():
        raise Refusal(
            f"{KEYRING} is missing, with which Debian's packages are verified.",
            "Install it: apt-get install debian-archive-keyring (dnf install debian-keyring).",
        )
    if os.geteuid() != 0:
        cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        raise Refusal(
            "The guests' image is not made yet, and making it needs root, once: it holds files of root's.",
            f"Say: sudo env XDG_CACHE_HOME={cache} bin/rackwright tools --image; the guests themselves need no root.",
        )


def _lacking(names: Iterable[str]) -> Refusal:
    wanted = {**TO_BOOT, **TO_MAKE_THE_IMAGE}
    names = list(names)
    debian, red_hat = (sorted({wanted[name][column] for name in names}) for column in (0, 1))
    verb = "is" if len(names) == 1 else "are"
    return Refusal(
        f"To boot guests, {', '.join(names)} {verb} missing here.",
        f"Install: apt-get install {' '.join(debian)} (or dnf install {' '.join(red_hat)}).",
    )
