"""Pulumi's passphrase as a file, since Pulumi reads it from one: in memory, never on a disk."""

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from rackwright.command_line import command_line
from rackwright.errors import Refusal
from rackwright.secrets import private_file

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it, and its owner checked
NAME = "pulumi_passphrase"


def write(site_folder: Path, values: Mapping[str, str]) -> Path:
    """Lay the passphrase of a site into a file of mode 0600 in memory; it is gone after a reboot."""
    if NAME not in values:
        make = command_line("rackwright", "secrets", "init", site_folder)
        raise Refusal(f"The vault has no {NAME}.", f"{make} adds it.")
    file = _folder() / _name(site_folder)
    private_file.write(file, values[NAME].encode())
    return file


def remove(site_folder: Path) -> None:
    """Take it away again."""
    (_folder() / _name(site_folder)).unlink(missing_ok=True)


def _name(site_folder: Path) -> str:
    """One name for each folder: two checkouts may have sites of one name."""
    folder = site_folder.resolve()
    return f"{folder.name}-{hashlib.sha256(bytes(folder)).hexdigest()[:12]}"


def _folder() -> Path:
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or SHARED_MEMORY / f"rackwright-{os.getuid()}")
    if runtime.parent == SHARED_MEMORY:
        return _own(runtime)
    return _own(runtime / "rackwright") if _is_mine(runtime) else _own(SHARED_MEMORY / f"rackwright-{os.getuid()}")


def _own(folder: Path) -> Path:
    """A folder that nobody else can enter; Refusal where somebody else made it first."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Refusal(
            f"There is no folder in memory for the passphrase: {folder} cannot be made ({error.strerror}).",
            "Set XDG_RUNTIME_DIR to a folder of yours in memory (tmpfs).",
        ) from None
    if not _is_mine(folder):
        raise Refusal(
            f"{folder} is not yours alone, so a passphrase is not safe in it.",
            "Remove it, or set XDG_RUNTIME_DIR to a folder of yours in memory (tmpfs).",
        )
    return folder


def _is_mine(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
