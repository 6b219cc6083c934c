"""One real server on a socket in a folder."""

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.sandbox import processes
from rackwright.sandbox.postgres.home import USER

LOCALE = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8", "--encoding=UTF8")
START_S = 120
GONE_S = 30.0
SAID = 2000


class Server:
    """A server whose processes outlive whoever starts them; `settings` are PostgreSQL's own, by name."""

    def __init__(self, programs: Path, home: Path, name: str, settings: Mapping[str, str]) -> None:
        self.programs, self.home, self.name, self.settings = programs, home, name, settings
        self.data, self.sockets, self.log = home / name, home / f"{name}-socket", home / f"{name}.log"
        self.sockets.mkdir()
        os.chown(self.sockets, USER, -1)

    @property
    def environment(self) -> dict[str, str]:
        """What libpq finds this server by."""
        return {"PATH": os.environ["PATH"], "PGHOST": str(self.sockets), "PGUSER": "postgres", "PGDATABASE": "postgres"}

    @property
    def is_up(self) -> bool:
        """Whether it runs; no program is started for it, since some ask ten times a second."""
        with suppress(FileNotFoundError, ValueError, IndexError):
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
            return (processes.PROCESSES / str(pid)).exists()
        return False

    @property
    def is_follower(self) -> bool:
        """Whether it is a standby, by the file that its promotion takes away."""
        return (self.data / "standby.signal").exists()

    def run(self, program: str, *arguments: str | Path) -> str:
        """What one of PostgreSQL's programs says, as the server's user; Refusal where it fails."""
        command = [str(self.programs / program), *map(str, arguments)]
        done = subprocess.run(
            command, user=USER, cwd=self.home, capture_output=True, text=True, check=False, env=self.environment
        )
        if done.returncode:
            said = " ".join(f"{done.stdout} {done.stderr}".split())[-SAID:]
            raise Refusal(f"{program} of {self.name} says no: {said}", f"See {self.log}.")
        return done.stdout

    def sql(self, statements: str, database: str = "postgres") -> str:
        """What they return."""
        return self.run("psql", "-XAtq", "-vON_ERROR_STOP=1", "-d", database, "-c", statements).strip()

    def make(self) -> None:
        """A new, empty server."""
        self.run("initdb", "-D", self.data, "-U", "postgres", *LOCALE, "--data-checksums", "--no-sync")

    def copy(self, primary: "Server") -> None:
        """A standby of another, known there by its own name."""
        primary.run("pg_basebackup", "-D", self.data, "--checkpoint=fast", "--no-sync")
        self.follow(primary)

    def follow(self, primary: "Server") -> None:
        """Whenever it starts, it follows that one; of several such lines the last one counts."""
        where = f"host={primary.sockets} user=postgres application_name={self.name}"
        with (self.data / "postgresql.auto.conf").open("a") as file:
            file.write(f"primary_conninfo = '{where}'\n")
        (self.data / "standby.signal").touch()
        os.chown(self.data / "standby.signal", USER, -1)

    def options(self) -> list[str]:
        """The settings as the command line has them."""
        own = {"listen_addresses": "", "unix_socket_directories": str(self.sockets)}
        return [f"-c{name}={value}" for name, value in {**own, **self.settings}.items()]

    def start(self) -> None:
        """Start it where it is not up, and wait until it answers."""
        if not self.is_up:
            how = ("-w", "-t", str(START_S), "-o", shlex.join(self.options()), "-l", self.log)
            self.run("pg_ctl", "start", "-D", self.data, *how)

    def stop(self) -> None:
        """End it in order, where it is up."""
        if self.is_up:
            self.run("pg_ctl", "stop", "-w", "-t", str(START_S), "-m", "fast", "-D", self.data)

    def promote(self) -> None:
        """Make a standby a primary."""
        self.run("pg_ctl", "promote", "-w", "-D", self.data)

    def discard(self) -> None:
        """End it, and throw what it holds away."""
        self.stop()
        shutil.rmtree(self.data, ignore_errors=True)

    def kill(self) -> None:
        """End it as a power cut does: every process of it at once, with nothing written any more."""
        with suppress(FileNotFoundError, ValueError, IndexError):
            first = int((self.data / "postmaster.pid").read_text().split()[0])
            with suppress(ProcessLookupError):
                os.kill(first, signal.SIGSTOP)  # or it starts one more meanwhile, which would wait for ever
            found = [first, *_children(first)]  # each child is a session of its own
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            deadline = time.monotonic() + GONE_S
            # One that has ended and that nobody took note of would still pass for a server.
            while any((processes.PROCESSES / str(pid)).exists() for pid in found) and time.monotonic() < deadline:
                time.sleep(0.02)


def _children(parent: int) -> list[int]:
    found = []
    for place in processes.PROCESSES.glob("[0-9]*"):
        with suppress(OSError):  # gone meanwhile
            if int(_told(place)[1]) == parent:
                found.append(int(place.name))
    return found


def _told(place: Path) -> list[str]:
    """What the system says of a process after its name: its state, its parent, and more."""
    return place.joinpath("stat").read_text().rpartition(")")[2].split()
