"""Two real PostgreSQL servers of this machine as the two sides, and writers that write down what they were told."""

from contextlib import contextmanager

from played_world import Ticks, in_child
from waiting import until

from rackwright.rollout.postgres.server import Console
from rackwright.rollout.rehearsal.writer import Writer
from rackwright.sandbox.postgres import USER, Server, home

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
        self.second.start()

    def discard(self):
        self.second.discard()
        self.made.unlink(missing_ok=True)

    def demote(self, side):
        server, other = self._both(side)
        self.ticks()
        server.stop()
        self.ticks()
        server.follow(other)
        self.ticks()

    def promote(self, side):
        server, _ = self._both(side)
        self.ticks()
        server.promote()
        self.ticks()

    def follow(self, side):
        server, other = self._both(side)
        server.follow(other)
        self.ticks()
        server.start()
        self.ticks()

    def _both(self, side):
        return (self.first, self.second) if side.name == self.first.name else (self.second, self.first)


def writer_of(pair: LocalPair, number: int) -> Writer:
    """An application that writes often, and leaves the processors to others in between."""
    return Writer((pair.first, pair.second), "app", "app", number, every_s=0.02)


@contextmanager
def two_servers(programs):
    """The first with applications' databases and a table that they write to, the second not yet made."""
    with home() as place:
        first, second = (Server(programs, place, name, SETTINGS) for name in ("phase-1", "phase-2"))
        first.make()
        found = LocalPair(first, second)
        first.start()
        first.sql("CREATE ROLE app LOGIN")
        for name in DATABASES:
            first.sql(f"CREATE DATABASE {name}")
            found.old.sql(TABLES, name)
        yield found


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
