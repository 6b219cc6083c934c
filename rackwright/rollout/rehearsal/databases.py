"""Both phases' databases in a rehearsal: real PostgreSQL servers behind their Clusters, and applications that write."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

from rackwright.errors import Refusal
from rackwright.rollout.postgres.cluster import NAMESPACE
from rackwright.rollout.rehearsal.figures import Figures
from rackwright.rollout.rehearsal.ground import Cluster
from rackwright.rollout.rehearsal.operator import Place, PlayedOperator
from rackwright.rollout.rehearsal.writer import TABLE, Writer
from rackwright.sandbox.api import Api
from rackwright.sandbox.postgres import Server, home, major, programs
from rackwright.site.postgresql import Database

# The sizes of the site's own would not fit here; a server that dies takes everything with it, so nothing is synced.
SETTINGS = MappingProxyType({"fsync": "off", "max_connections": "40", "shared_buffers": "32MB"})
EVERY_S = 0.05  # between two rows of one writer
FOUNDED_S, LOOK_S = 120.0, 0.2


def missing() -> str:
    """What is said where programs cannot be had."""
    return (
        f"NO POSTGRESQL {major()} CAN BE HAD HERE: its copy, cut-over, standing by and parting were PLAYED, and no row "
        "was written or compared. RACKWRIGHT_POSTGRES names the folder of its programs."
    )


@dataclass(frozen=True)
class Databases:
    """Servers behind both Clusters, their operator, and writers."""

    operator: PlayedOperator
    servers: tuple[Server, Server]
    writers: Sequence[Writer]

    def leave(self) -> None:
        """Phase 1's machine is gone, and its server with it."""
        self.operator.power_off(self.operator.first)

    def figures(self) -> Figures:
        """What writers were told, against what the server holds that takes writes now; they write no more."""
        for each in self.writers:
            each.end()
        primary = next((each for each in reversed(self.servers) if _takes_writes(each)), None)
        return Figures(
            "PostgreSQL",
            "two real servers, CloudNativePG played",
            "rows",
            len(self.writers),
            sum(len(each.told) for each in self.writers),
            sum(len(each.lost(primary) if primary else each.told) for each in self.writers),
            max(each.refused_s for each in self.writers),
            tuple(self.operator.faults),
        )


@contextmanager
def databases(wanted: Sequence[Database], first: Cluster, second: Cluster) -> Iterator[Databases | None]:
    """Phase 1's as its stack wants them, written to from now on; None where PostgreSQL's programs cannot be had."""
    with home() as place:
        found = programs(place)
        if found is None:
            yield None
            return
        servers = (Server(found, place, "phase-1", SETTINGS), Server(found, place, "phase-2", SETTINGS))
        ours = [
            Place(f"phase{each.phase}", Api(each.plane.kubeconfig), NAMESPACE, server)
            for each, server in zip((first, second), servers, strict=True)
        ]
        with PlayedOperator(ours[0], ours[1], place) as operator:
            _wait_for(operator, servers[0], wanted)
            for each in wanted:
                servers[0].sql(f'SET ROLE "{each.owner}"; {TABLE}', each.name)
            writers = [
                Writer(servers, each.owner, each.name, number, every_s=EVERY_S) for number, each in enumerate(wanted)
            ]
            try:
                yield Databases(operator, servers, writers)
            finally:
                for writer in writers:
                    writer.end()


def _wait_for(operator: PlayedOperator, server: Server, wanted: Sequence[Database]) -> None:
    deadline = time.monotonic() + FOUNDED_S
    while not operator.has_made(operator.first):
        if operator.faults or time.monotonic() > deadline:
            why = "; ".join(operator.faults) or f"not within {FOUNDED_S:g} s"
            raise Refusal(f"Phase 1's PostgreSQL was not made: {why}.", f"See {server.log}.")
        time.sleep(LOOK_S)
    there = set(server.sql("SELECT datname FROM pg_database").splitlines())
    if lacking := [each.name for each in wanted if each.name not in there]:
        raise Refusal(f"Phase 1's stack asked for no database {', '.join(lacking)}.", "See its Database objects.")


def _takes_writes(server: Server) -> bool:
    return server.is_up and server.sql("SELECT pg_is_in_recovery()") == "f"
