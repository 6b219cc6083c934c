"""Finding and ending the processes that were started for a folder of ours."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from rackwright.errors import Refusal

PROCESSES = Path("/proc")
MARK = "RACKWRIGHT_WORKS_IN"


def marked(folder: Path) -> dict[str, str]:
    """The variable that a process is started with, and that its children inherit, so that it is found again."""
    return {MARK: str(folder)}


def working_in(folder: Path) -> list[int]:
    """The living processes that were started for the folder.

    A file with process numbers would name strangers after a restart of the machine, and a command line can name a
    folder that somebody only looks into.
    """
    if not PROCESSES.is_dir():
        raise Refusal("A rehearsal needs Linux: this system has no /proc.", "Run it on a Linux machine, or in one.")
    mark = os.fsencode(f"{MARK}={folder}")
    found = []
    for entry in PROCESSES.iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):  # it has ended meanwhile, or is another user's
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def end(folder: Path, patience: float = 10.0) -> int:
    """Kill every process that works in the folder, and wait until they are gone; how many there were.

    None is asked to end well: what they hold is thrown away with the folder. `patience` is in seconds.
    """
    ended: set[int] = set()
    deadline = time.monotonic() + patience
    while alive := working_in(folder):
        for process in alive:
            ended.add(process)
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise Refusal(f"Process {alive[0]} does not end.", f"End it by hand: kill -9 {alive[0]}.")
        time.sleep(0.02)
    return len(ended)
