"""Writes that pause: applications' databases let nobody in, nobody is left inside, and the log says so.

The limit and the mark are in the log like every change, so a follower that shows the mark holds every commit that any
application was told of. An administrator is let in all the while.
"""

import time
from collections.abc import Callable, Sequence

from rackwright.errors import Refusal
from rackwright.rollout.postgres.server import Server, position

MARK = "rackwright.writes_ended"
END_S, REPLAY_S = 5.0, 8.0
UNLOGGED = """
SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND relpersistence = 'u' AND pg_relation_size(oid) > 0
ORDER BY 1"""


def refuse_unlogged(server: Server, databases: Sequence[str]) -> None:
    """Refusal where a table is in no log: no copy ever gets what it holds, and at the other side it is empty."""
    for database in databases:
        if found := server.sql(UNLOGGED, database):
            raise Refusal(
                f"No copy gets what {database} holds in {', '.join(found.splitlines())}: unlogged tables.",
                "Let them be logged, ALTER TABLE ... SET LOGGED, or empty those that may be lost; then go on.",
            )


def close(server: Server, databases: Sequence[str]) -> None:
    """Let no application in and none stay, then leave the mark; Refusal where that does not come about in time."""
    names = _listed(databases)
    if server.sql("SELECT count(*) FROM pg_prepared_xacts") != "0":
        raise Refusal(f"{server.name} holds prepared transactions.", "Commit or roll them back first.")
    limited = f"SELECT datname FROM pg_database WHERE datname IN ({names}) AND datconnlimit > 0"  # noqa: S608 - quoted
    if own := server.sql(limited):
        raise Refusal(f"{own.split()[0]} has a connection limit of its own.", "Take it out: CONNECTION LIMIT -1.")
    server.sql("".join(f"ALTER DATABASE {_quoted(name)} CONNECTION LIMIT 0;\n" for name in databases))
    # One without a database is on its way in: if it began before the limit was there, it may have been let in.
    limited_at = server.sql("SELECT clock_timestamp()")
    inside = f"FROM pg_stat_activity WHERE (datname IN ({names}) OR datname IS NULL AND backend_start < '{limited_at}')"
    inside += " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    deadline = time.monotonic() + END_S
    while server.sql(f"SELECT count(pg_terminate_backend(pid)) {inside}") != "0":
        if time.monotonic() > deadline:
            raise Refusal(f"Sessions of {server.name} do not end.", "See pg_stat_activity for who they are.")
        time.sleep(0.02)
    server.sql(f"ALTER DATABASE postgres SET {MARK} = 'ended'")


def open_again(server: Server, databases: Sequence[str]) -> None:
    """Let applications in, and take the mark away."""
    server.sql(
        "".join(f"ALTER DATABASE {_quoted(name)} CONNECTION LIMIT -1;\n" for name in databases)
        + f"ALTER DATABASE postgres RESET {MARK};\n"
    )


def is_open(server: Server, databases: Sequence[str]) -> bool:
    """Whether applications are let in to all of them."""
    names = _listed(databases)
    closed = f"SELECT count(*) FROM pg_database WHERE datname IN ({names}) AND datconnlimit = 0"  # noqa: S608 - quoted
    return server.sql(closed) == "0" and not is_marked(server)


def is_marked(server: Server) -> bool:
    """Whether its log has come to the end of writes."""
    settings = "SELECT count(*) FROM pg_db_role_setting, unnest(setconfig) AS one"
    return server.sql(f"{settings} WHERE one LIKE '{MARK}=%'") == "1"


def replayed(primary: Server, follower: Server, sleep: Callable[[float], None] = time.sleep) -> None:
    """Wait until a follower is where the primary is, and shows its mark; Refusal where that does not come in time.

    The position alone is none: one that replayed more than a standby that was promoted since has a log of its own.
    """
    wanted, deadline = position(primary), time.monotonic() + REPLAY_S
    while position(follower) < wanted or not is_marked(follower):
        if time.monotonic() > deadline:
            raise Refusal(
                f"{follower.name} did not catch up with {primary.name} in {REPLAY_S:g} s.",
                "Try at a quieter time, or look what holds its replay up: pg_stat_wal_receiver, its drives.",
            )
        sleep(0.02)


def _listed(databases: Sequence[str]) -> str:
    return ", ".join("'" + name.replace("'", "''") + "'" for name in databases)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
