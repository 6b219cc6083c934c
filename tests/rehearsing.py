"""Rehearsals as a user starts them, in a cache folder of the test's own, and what they leave behind."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from rackwright.sandbox import tools

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(sys.executable).with_name("rackwright")
INVENTORY = ROOT / "inventory"
FOLDERS = ("control-planes", "racks")


def own_cache(folder: Path, *more: str) -> Path:
    """A cache folder with this machine's built tools, `more` of what is made once, and nothing else in it."""
    cache = folder / "cache"
    (cache / "rackwright").mkdir(parents=True)
    for name in ("tools", *more):
        (cache / "rackwright" / name).symlink_to(tools.cache_folder() / name)
    return cache


class Rehearsal:
    """A `rackwright rehearse` that runs, or another `command` of rehearsals, with what it has said so far."""

    def __init__(
        self, cache: Path, *arguments: object, command: Sequence[str] = ("rehearse",), **variables: str
    ) -> None:
        self.cache = cache
        self.said: list[str] = []
        self._heard = threading.Condition()
        self.process = subprocess.Popen(
            [PROGRAM, *command, *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, "XDG_CACHE_HOME": str(cache), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        for line in self.process.stderr:
            with self._heard:
                self.said.append(line.rstrip())
                self._heard.notify_all()

    def hears(self, pattern: str, seconds: float = 120) -> str:
        """Wait until it says something like this."""
        with self._heard:
            found = self._heard.wait_for(lambda: [each for each in self.said if re.search(pattern, each)], seconds)
        assert found, f"never said {pattern}: {self.said}"
        return found[0]

    def ends(self, number: signal.Signals | None = None, seconds: float = 120) -> int:
        """Send it a signal, if any, and wait for its exit code."""
        if number is not None:
            self.process.send_signal(number)
        code = self.process.wait(seconds)
        self._listener.join(5)  # what it said last is still on its way; after a kill, its children keep the pipe open
        return code

    def started(self, program: str) -> list[int]:
        """Processes of that name that work for it."""
        return [process for process, name in working_in(self.cache) if name.startswith(program)]

    def left(self) -> list[str]:
        """What is there of it after its end: processes, folders, locks."""
        folders = [each for name in FOLDERS for each in (self.cache / "rackwright" / name).glob("*")]
        return [name for _, name in working_in(self.cache)] + [each.name for each in folders]


def working_in(cache: Path) -> list[tuple[int, str]]:
    """Processes that were started with a cache folder or for something in it, by number and name."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"={cache}".encode() in (entry / "environ").read_bytes():
                found.append((int(entry.name), (entry / "comm").read_text().strip()))
        except OSError:
            continue  # it has ended meanwhile
    return found
