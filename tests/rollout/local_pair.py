"""Two real PostgreSQL servers of this machine as the two sides, and writers that write down what they were told."""

import os
import shutil
import subprocess
import threading
import time
from contextlib import contextmanager, suppress

from played_world import Ticks, in_child
from postgres_server import USER, Server, end, new_home
from waiting import until

from rackwright.rollout.postgres.server import Console

DATABASES = ("app", "other")
SETTINGS = {"fsync": "off", "max_connections": "40", "shared_buffers": "32MB"}
TABLES = """
CREATE TABLE kept (writer int, row int, number bigserial, UNIQUE (writer, row));
GRANT ALL ON kept TO app; GRANT ALL ON SEQUENCE kept_number_seq TO app;
"""


def console(server: Server, **environment: str) -> Console:
    found = server.environment | environment
    return Console(server.name, [str(server.programs / "psql")], found, {"user": USER, "cwd": server.home})


class Ticked:
    """A console that may be killed before and after each change that is asked of it."""

    def __init__(self, server: Server, pair: "LocalPair"):
        self._console, self._pair, self.name = console(server), pair, server.name

    def sql(self, statements, database="postgres"):
        if not statements.startswith("ALTER"):
            return self._console.sql(statements, database)
        self._pair.ticks()
        answer = self._console.sql(statements, database)
        self._pair.ticks()
        return answer


class LocalPair:
    """Processes and folders, where a cluster has an operator's objects; `ticks` may kill whoever is at it."""

    def __init__(self, first: Server, second: Server, ticks=lambda: None):
        self.first, self.second, self.ticks = first, second, ticks
        self.old, self.new = Ticked(first, self), Ticked(second, self)
        self.made = second.home / f"{second.name}-made"

    def has_copy(self):
        return self.second.data.exists()

    def is_whole(self):
        return self.made.exists()

    def settle(self):
        """What was told was done."""

    def prepare(self):
        """Nothing takes long here."""

    def copy(self):
        if not self.made.exists():  # what was copied half is copied anew
            self.discard()
            self.ticks()
            self.second.copy(self.first)
            self.made.touch()
        self.ticks()
        self._start(self.second)

    def discard(self):
        self._stop(self.second)
        shutil.rmtree(self.second.data, ignore_errors=True)
        self.made.unlink(missing_ok=True)

    def demote(self, side):
        server, _ = self._both(side)
        self.ticks()
        self._stop(server)
        self.ticks()
        self._let_follow(server)
        self.ticks()

    def promote(self, side):
        server, _ = self._both(side)
        self.ticks()
        server.promote()
        self.ticks()

    def follow(self, side):
        server, _ = self._both(side)
        self._let_follow(server)
        self.ticks()
        self._start(server)
        self.ticks()

    def _let_follow(self, server):
        """Whenever it starts, it follows the other; of several lines the last one counts."""
        other = self.second if server is self.first else self.first
        with (server.data / "postgresql.auto.conf").open("a") as file:
            file.write(f"primary_conninfo = 'host={other.sockets} user=postgres application_name={server.name}'\n")
        (server.data / "standby.signal").touch()
        os.chown(server.data / "standby.signal", USER, -1)

    def _both(self, side):
        return (self.first, self.second) if side.name == self.first.name else (self.second, self.first)

    def _start(self, server):
        """By pg_ctl, so that it outlives whoever starts it."""
        if not is_up(server):
            options = " ".join(server.options())
            log = server.home / f"{server.name}.log"
            server.run("pg_ctl", "start", "-w", "-t", "120", "-D", server.data, "-o", options, "-l", log)

    def _stop(self, server):
        if is_up(server):
            server.run("pg_ctl", "stop", "-w", "-t", "120", "-m", "fast", "-D", server.data)


def is_up(server) -> bool:
    if not (server.data / "postmaster.pid").exists():
        return False
    command = [server.programs / "pg_ctl", "status", "-D", server.data]
    return subprocess.run(command, user=USER, cwd=server.home, capture_output=True, check=False).returncode == 0


def kill(server):
    """As a power cut does."""
    with suppress(FileNotFoundError, ProcessLookupError, ValueError):
        pid = int((server.data / "postmaster.pid").read_text().split()[0])
        for place in subprocess.run(
            ["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False
        ).stdout.split():
            with suppress(ProcessLookupError):
                os.kill(int(place), 9)
        os.kill(pid, 9)


class Writer:
    """An application: it commits row after row as its own role, looks for whoever takes writes, and never forgets."""

    def __init__(self, pair: LocalPair, number: int):
        self.pair, self.number = pair, number
        self.told: list[int] = []
        self.at: list[float] = []
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def end(self):
        self._ends.set()
        self._thread.join(120)
        assert not self._thread.is_alive()

    @property
    def longest_pause_s(self) -> float:
        return max((b - a for a, b in zip(self.at, self.at[1:], strict=False)), default=0.0)

    def _write(self):
        row = 0
        hosts = f"host={self.pair.first.sockets},{self.pair.second.sockets}"
        command = [
            self.pair.first.programs / "psql", "-XAtq", "-vON_ERROR_STOP=1",
            f"{hosts} user=app dbname=app target_session_attrs=read-write",
        ]  # fmt: skip
        while not self._ends.is_set():
            session = subprocess.Popen(
                command, user=USER, cwd=self.pair.first.home, text=True, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            with suppress(BrokenPipeError), session:  # closing writes what is left
                while not self._ends.is_set():
                    row += 1
                    session.stdin.write(
                        f"INSERT INTO kept (writer, row) VALUES ({self.number}, {row});\n\\echo {row}\n"
                    )
                    session.stdin.flush()
                    if session.stdout.readline().strip() != str(row):
                        break  # it was refused, or nobody knows: then it is not counted
                    self.told.append(row)
                    self.at.append(time.monotonic())
                session.kill()


@contextmanager
def two_servers(programs):
    """The first with applications' databases and a table that they write to, the second not yet made."""
    home = new_home()
    first, second = (Server(programs, home, name, SETTINGS) for name in ("phase-1", "phase-2"))
    first.make()
    found = LocalPair(first, second)
    found._start(first)
    first.sql("CREATE ROLE app LOGIN")
    for name in DATABASES:
        first.sql(f"CREATE DATABASE {name}")
        found.old.sql(TABLES, name)
    yield found
    for server in (first, second):
        kill(server)
    end([first, second], home)


def kept(server) -> set[tuple[int, int]]:
    lines = server.sql("SELECT writer || ' ' || row FROM kept", "app").splitlines()
    return {(int(writer), int(row)) for writer, row in (line.split() for line in lines)}


def told(writers) -> set[tuple[int, int]]:
    return {(writer.number, row) for writer in writers for row in writer.told}


def goes_on(writers):
    before = [len(writer.told) for writer in writers]
    until(
        lambda: all(len(writer.told) > n + 5 for writer, n in zip(writers, before, strict=True)), "writes do not go on"
    )


def killed(pair, act, at) -> int:
    """Killed before or after its n-th change."""
    pair.ticks = Ticks(at)
    code = in_child(act)
    pair.ticks = Ticks()
    return code
