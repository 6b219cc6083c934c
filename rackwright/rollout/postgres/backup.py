"""Proof that a backup of PostgreSQL is one: it is taken, restored beside the server, counted, and removed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rackwright.errors import Refusal
from rackwright.rollout.postgres.compared import Held, held
from rackwright.rollout.postgres.server import Server, identity, position


class Backups(Protocol):
    """What only the place can do: folders and processes here, an operator and its object storage in a cluster.

    Each may be asked again after it was killed half-way.
    """

    @property
    def server(self) -> Server:
        """Whose backups they are."""

    def take(self) -> None:
        """Make one now, and wait until it is whole."""

    def restore(self) -> Server:
        """The newest one as a server beside, which nobody else reaches; whatever was there before is removed."""

    def is_left(self) -> bool:
        """Whether a restored server is there, whole or half."""

    def remove(self) -> None:
        """Remove what was restored; backups stay."""


@dataclass(frozen=True)
class PostgresBackup:
    """One server with its databases, in the terms of the step (backup.py of the rollout)."""

    backups: Backups
    databases: Sequence[str]

    def is_left(self) -> bool:
        """Whether a restored server is there."""
        return self.backups.is_left()

    def remove(self) -> None:
        """Remove it."""
        self.backups.remove()

    def prove(self) -> str:
        """What was found, in a clause; Refusal where the backup lacks something. Applications may write meanwhile."""
        server = self.backups.server
        begun, before = position(server), self._held(server)
        self.backups.take()
        try:
            restored = self.backups.restore()
            if identity(restored) != identity(server):
                raise Refusal("What was restored is another server's backup.", "See where its backups are kept.")
            if (behind := begun - position(restored)) > 0:
                raise Refusal(f"The backup ends {behind} bytes of log before it began.", "See the log of the archive.")
            return _compared(before, self._held(restored), self._held(server))
        finally:
            self.backups.remove()

    def _held(self, server: Server) -> Mapping[str, Held]:
        return {name: held(server, name) for name in self.databases}


def _compared(before: Mapping[str, Held], restored: Mapping[str, Held], after: Mapping[str, Held]) -> str:
    """Of each table that nobody wrote to the rows are equal; one that was written to is there, and not empty."""
    tables = rows = changing = large = 0
    for database, found in restored.items():
        first, last = before[database].rows, after[database].rows
        large += found.not_counted
        for table in first.keys() & last.keys():
            count = found.rows.get(table)
            is_still = first[table] == last[table]
            if count is None or (is_still and count != first[table]) or (min(first[table], last[table]) and not count):
                said = "no such table" if count is None else f"{count} rows"
                raise Refusal(
                    f"{database} {table} has {first[table]} rows, and {said} in the backup.",
                    "See the log of the backup.",
                )
            tables, rows, changing = tables + 1, rows + count, changing + (not is_still)
    words = f"PostgreSQL: {rows} rows in {tables} tables restored and counted"
    if changing:
        words += f", {changing} of them while they were written to"
    return words + (f"; {large} large tables not counted" if large else "")
