"""One holder at a time, whatever happens to it: the system releases the lock when the holder is gone."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Progress = Callable[[str], None]


def silence(_: str) -> None:
    """The progress that nobody reads."""


@contextmanager
def held(file: Path, waiting_for: str, progress: Progress = silence) -> Iterator[None]:
    """Hold the lock on a file; where another process has it, say so once and wait."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not _take(descriptor):
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "of unknown number"
            progress(f"Waiting for {waiting_for}: process {holder} is at it.")
            while not _take(descriptor):
                time.sleep(0.2)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
