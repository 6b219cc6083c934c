"""A network namespace of a rack's own, held by its switch; everything that talks to guests runs in it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from rackwright.errors import Refusal
from rackwright.guests import wire
from rackwright.guests.cabling import Cabling
from rackwright.guests.needs import path_of
from rackwright.sandbox import processes

SECONDS_TO_START = 60
ROOT = Path(__file__).resolve().parents[2]
# Whoever starts something inside may be gone before the kernel is asked to end it too: then it does not begin.
WHILE_OWNED = '[ "$PPID" = "$0" ] && exec "$@"'


def demand() -> None:
    """Refusal where this user may make no namespace."""
    tried = subprocess.run([path_of("unshare"), *_unshare(), "--", "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise explain(tried.stderr)


class Namespace:
    """The switch with its cables, and the way in to where it is.

    It ends with the process that started it, unless it `stays`.
    """

    def __init__(self, folder: Path, cabling: Cabling, *, stays: bool = False) -> None:
        self.folder = folder
        self.stays = stays
        self._cabling = cabling
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Make the namespace and wait until the switch works; Refusal where the system does not allow it."""
        plan = self.folder / "cabling.json"
        plan.write_text(json.dumps(_plain(self._cabling, stays=self.stays)), encoding="utf-8")
        log = self.folder / "wire.log"
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                [path_of("unshare"), *_unshare(), "--", sys.executable, "-m", wire.__name__, str(plan)],
                cwd=ROOT,
                env={**self.environment(), "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL if self.stays else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # Ctrl-C is for us
            )
        if not self._is_ready(self._process):
            raise explain(log.read_text(errors="replace"))

    def environment(self) -> dict[str, str]:
        """What programs are started with, so that they are found again."""
        return {**os.environ, **processes.marked(self.folder)}

    def entering(self, *, ends_with_us: bool = True) -> list[str]:
        """The words before a command that let it run inside."""
        if self._process is None:
            raise RuntimeError("the namespace is not started")  # a fault of the caller's
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        inside = [path_of("nsenter"), f"--target={self._process.pid}", *user, "--net", "--"]
        if not ends_with_us or self.stays:
            return inside
        return [*inside, path_of("setpriv"), "--pdeathsig", "KILL", "sh", "-c", WHILE_OWNED, str(os.getpid())]

    def run(
        self, command: Sequence[str], *, text: str | None = None, source: IO[bytes] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command inside to its end, and keep what it says; its input is `text`, or comes from `source`."""
        given: dict[str, Any] = {"stdin": source} if source else {"input": text or ""}
        return subprocess.run(
            [*self.entering(), *command],
            env=self.environment(),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            **given,
        )

    def begin(self, command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
        """Start a command inside that goes on beside us; what it says goes to a file."""
        with log.open("ab") as output:
            return subprocess.Popen(
                [*self.entering(), *command],
                cwd=ROOT,
                env={**self.environment(), "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C is for us
            )

    @staticmethod
    def _is_ready(process: subprocess.Popen[bytes]) -> bool:
        deadline = time.monotonic() + SECONDS_TO_START
        output = process.stdout
        while output and (left := deadline - time.monotonic()) > 0:
            if select.select([output], [], [], left)[0]:
                return output.readline().decode().strip() == wire.READY
        return False


def _unshare() -> list[str]:
    return ["--net"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--net"]


def _plain(cabling: Cabling, *, stays: bool) -> Mapping[str, object]:
    taps = [
        {**asdict(tap), "address": str(tap.address), "others": [str(other) for other in tap.others]}
        for tap in cabling.taps
    ]
    ports = [{**asdict(port), "tagged": dict(port.tagged)} for port in cabling.ports]
    return {
        "ports": ports,
        "taps": taps,
        "sockets": cabling.sockets,
        "names": {name: str(address) for name, address in cabling.names.items()},
        "stays": stays,
    }


def explain(said: str) -> Refusal:
    """Why there is no namespace, out of what the switch's start said."""
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "it said nothing")
    if "unshare failed" in said or "uid_map" in said:
        return Refusal(
            f"This user may not make a network namespace: {last}",
            "Run this as root, or allow it: sysctl kernel.unprivileged_userns_clone=1 "
            "(on Ubuntu: kernel.apparmor_restrict_unprivileged_userns=0).",
        )
    return Refusal(f"The guests' switch did not start: {last}", "Run the same again; if it stays so, report this line.")
