"""An application of a database: it commits row after row, looks for whoever takes writes, and never forgets."""

import subprocess
from collections.abc import Sequence
from contextlib import suppress

from rackwright.rollout.rehearsal.application import Application
from rackwright.sandbox.postgres import USER, Server

TABLE = "CREATE TABLE kept (writer int, row int, number bigserial, UNIQUE (writer, row));"


class Writer(Application):
    """It writes as its own role into `kept` of one database; a row counts when it was acknowledged.

    `every_s` passes between two rows.
    """

    def __init__(
        self, servers: Sequence[Server], role: str, database: str, number: int, *, every_s: float = 0.0
    ) -> None:
        self.servers, self.role, self.database, self.number, self.every_s = servers, role, database, number, every_s
        super().__init__(database)

    def lost(self, server: Server) -> set[int]:
        """Rows that it was told are there, and a server does not hold."""
        held = server.sql(f"SELECT row FROM kept WHERE writer = {self.number}", self.database)  # noqa: S608 - a number
        return set(self.told) - set(map(int, held.split()))

    def _write(self) -> None:
        row = 0
        while not self._ends.is_set():
            session = self._session()
            with suppress(BrokenPipeError), session:  # closing writes what is left
                while not self._ends.is_set():
                    row += 1
                    if not self._commits(session, row):
                        break  # it was refused, or nobody knows: then it is not counted
                    self._acknowledged(row)
                    self._ends.wait(self.every_s)
                session.kill()
            self._refused()
            self._ends.wait(self.every_s)

    def _session(self) -> "subprocess.Popen[str]":
        hosts = ",".join(str(server.sockets) for server in self.servers)
        where = f"host={hosts} user={self.role} dbname={self.database} target_session_attrs=read-write"
        return subprocess.Popen(
            [self.servers[0].programs / "psql", "-XAtq", "-vON_ERROR_STOP=1", where],
            user=USER, cwd=self.servers[0].home, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def _commits(self, session: "subprocess.Popen[str]", row: int) -> bool:
        if session.stdin is None or session.stdout is None:
            return False
        statement = f"INSERT INTO kept (writer, row) VALUES ({self.number}, {row});\n\\echo {row}\n"  # noqa: S608 - numbers
        session.stdin.write(statement)
        session.stdin.flush()
        return session.stdout.readline().strip() == str(row)
