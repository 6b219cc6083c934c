"""The folders of control planes: who owns one, and clearing those whose owner is dead.

The owner holds a lock on a file beside its folder for as long as it lives. The system releases the lock when the owner
is gone, however it went, so a lock that can be had means a folder that nobody owns.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path

from rackwright.sandbox import processes

KEPT = "kept"


def take(folder: Path) -> int:
    """Make a folder that nobody else may have, and own it until the descriptor is closed or this process ends."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(_lock_of(folder), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.mkdir(mode=0o700)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def keep(folder: Path) -> None:
    """Mark a folder as one that goes on after its owner."""
    (folder / KEPT).touch()


def kept(parent: Path) -> list[Path]:
    """The folders that were kept and still run."""
    return [folder for folder in _folders(parent) if (folder / KEPT).exists() and processes.working_in(folder)]


def clear(folder: Path) -> int:
    """End what works in a folder and remove it; how many processes that were."""
    ended = processes.end(folder)
    shutil.rmtree(folder, ignore_errors=True)
    _lock_of(folder).unlink(missing_ok=True)
    return ended


def empty(folder: Path) -> None:
    """End what works in a folder that is still ours, and remove what it holds."""
    processes.end(folder)
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def sweep(parent: Path) -> list[str]:
    """Clear the folders that nobody owns, and those that were kept but have died; their names."""
    swept = []
    for folder in _folders(parent):
        if (folder / KEPT).exists() and processes.working_in(folder):
            continue
        descriptor = os.open(_lock_of(folder), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                clear(folder)
                swept.append(folder.name)
        finally:
            os.close(descriptor)
    return swept


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.lock")


def _folders(parent: Path) -> list[Path]:
    return sorted(path for path in parent.iterdir() if path.is_dir()) if parent.is_dir() else []
