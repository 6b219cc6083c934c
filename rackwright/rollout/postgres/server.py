"""One PostgreSQL, asked in SQL: what it is, and what it says of itself."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rackwright.errors import Refusal

PATIENCE_S = 60
OPTIONS = ("-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-")


class Server(Protocol):
    """A server as its administrator sees it."""

    @property
    def name(self) -> str:
        """As people know it."""

    def sql(self, statements: str, database: str = "postgres") -> str:
        """What they return, a row a line; Refusal where it does not answer or says no."""


@dataclass(frozen=True)
class Console:
    """A server by a `psql` that reaches it: of this machine, or in its pod.

    Statements go in by standard input: a command line can be read by everybody.
    """

    name: str
    psql: Sequence[str]
    environment: Mapping[str, str] | None = None
    options: Mapping[str, object] = field(default_factory=dict)

    def sql(self, statements: str, database: str = "postgres") -> str:
        """What they return, a row a line; Refusal where it does not answer or says no."""
        command = [*self.psql, *OPTIONS, "-d", database]
        try:
            done = subprocess.run(
                command,
                input=statements,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
                **self.options,  # type: ignore[call-overload]
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Refusal(f"{self.name} cannot be asked ({type(error).__name__}).", "See that it is up.") from None
        if done.returncode:
            said = " ".join(done.stderr.split())[-300:] or f"psql ended with {done.returncode}"
            raise Refusal(f"{self.name} says no: {said}.", "See its log.")
        return str(done.stdout).strip()


def answers(server: Server) -> bool:
    """Whether it is up."""
    try:
        return server.sql("SELECT 1") == "1"
    except Refusal:
        return False


def is_follower(server: Server) -> bool:
    """Whether it only replays what another one writes."""
    return server.sql("SELECT pg_is_in_recovery()") == "t"


def identity(server: Server) -> str:
    """What a server and its physical copies have in common, and no others."""
    return server.sql("SELECT system_identifier FROM pg_control_system()")


def streams(server: Server) -> bool:
    """Whether a follower is connected to whom it follows."""
    return server.sql("SELECT count(*) FROM pg_stat_wal_receiver WHERE status = 'streaming'") == "1"


def position(server: Server) -> int:
    """Bytes of log written, or replayed by a follower."""
    where = "CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END"
    return int(server.sql(f"SELECT ({where}) - '0/0'::pg_lsn"))
