"""Whether two servers hold the same: rows counted, sequences compared, while nobody writes."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rackwright.rollout.postgres.server import Server

COUNTED_MIB = 64  # a larger table would take its time out of the pause; it is at the same position of the log
TABLES = f"""
SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'
AND pg_relation_size(c.oid) {{}} {COUNTED_MIB} * 1024 * 1024 AND c.relpersistence = 'p' ORDER BY 1"""  # noqa: S608 - a constant
# A sequence that a follower has is up to 32 numbers ahead: the log reserves them. Behind it must never be.
SEQUENCES = """
SELECT format('%I.%I', schemaname, sequencename) || ' ' || sign(increment_by) || ' ' || coalesce(last_value::text, '-')
FROM pg_sequences ORDER BY 1"""


@dataclass(frozen=True)
class Compared:
    """What was found, in figures; `differing` is empty where both hold the same."""

    tables: int
    rows: int
    sequences: int
    not_counted: int
    differing: tuple[str, ...]

    @property
    def words(self) -> str:
        """One clause."""
        large = f"; {self.not_counted} tables over {COUNTED_MIB} MiB by their position in the log only"
        same = f"{self.rows} rows in {self.tables} tables equal, {self.sequences} sequences, none behind"
        return f"{'; '.join(self.differing) or same}{large * bool(self.not_counted)}"


def compare(primary: Server, follower: Server, databases: Sequence[str]) -> Compared:
    """Both sides of each database, side by side."""
    tables = rows = sequences = not_counted = 0
    differing: list[str] = []
    with ThreadPoolExecutor(max_workers=2) as both:
        for database in databases:
            first, second = both.map(lambda server, name=database: held(server, name), (primary, follower))
            tables, rows = tables + len(first.rows), rows + sum(first.rows.values())
            sequences, not_counted = sequences + len(first.sequences), not_counted + first.not_counted
            differing += [f"{database} {each}" for each in _differences(first, second)]
    return Compared(tables, rows, sequences, not_counted, tuple(differing))


@dataclass(frozen=True)
class Held:
    """What one database of a server holds: rows by table, and of each sequence its direction and last number."""

    rows: dict[str, int]
    sequences: dict[str, tuple[int, int | None]]
    not_counted: int


def held(server: Server, database: str) -> Held:
    """Count it; tables over 64 MiB only by their number."""
    names = server.sql(TABLES.format("<="), database).splitlines()
    counts = " UNION ALL ".join(f"SELECT count(*) FROM {name}" for name in names)  # noqa: S608 - quoted by the server
    rows = [int(count) for count in server.sql(counts, database).splitlines()] if names else []
    sequences: dict[str, tuple[int, int | None]] = {}
    for line in server.sql(SEQUENCES, database).splitlines():
        name, sign, value = line.rsplit(" ", 2)
        sequences[name] = (int(sign), None if value == "-" else int(value))
    large = server.sql(f"SELECT count(*) FROM ({TABLES.format('>')}) AS large", database)  # noqa: S608 - a constant
    return Held(dict(zip(names, rows, strict=True)), sequences, int(large))


def _differences(first: Held, second: Held) -> list[str]:
    found = [
        f"{name}: {first.rows.get(name, 'no')} rows, and {second.rows.get(name, 'no')} in the copy"
        for name in sorted(first.rows.keys() | second.rows.keys())
        if first.rows.get(name) != second.rows.get(name)
    ]
    for name, (sign, value) in sorted(first.sequences.items()):
        _, other = second.sequences.get(name, (sign, None))
        if value is not None and (other is None or sign * (other - value) < 0):
            found.append(f"{name} is at {value}, and at {other} in the copy")
    return found
