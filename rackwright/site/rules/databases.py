"""The database server, its databases and their owners."""

from collections.abc import Iterator

from rackwright.site.hosts import Phase
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.postgresql import Postgresql
from rackwright.site.reading.faults import spell
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.repeats import repeats
from rackwright.site.reading.unknown import is_known, look
from rackwright.site.site import Site

RESERVED = frozenset({"postgres", "template0", "template1", "rackwright"})  # the server's own, and its first database
RESERVED_ROLES = frozenset(
    {"postgres", "rackwright", "streaming_replica", "cnpg_pooler_pgbouncer", "public", "none", "user", "session_user"}
)
CONNECTION_MIB = 5  # of a server process that does nothing, beside the buffers that all share
FOR_CONNECTIONS = 0.5  # of an instance's memory
FOR_SYNCHRONOUS = 3  # instances: commits go on while either standby is away


def first_phase_has_one_server(site: Site) -> Iterator[Broken]:
    """A standby on the same machine fails with it."""
    instances = site.postgresql.phase1.instances
    if 1 in site.phases and instances > 1:
        yield Broken(
            ("postgresql", "phase1", "instances"),
            f"is {instances}, and phase 1 is one server, which all of them would share",
            "write 1",
        )


def synchronous_commits_have_a_standby(site: Site, phase: Phase) -> Iterator[Broken]:
    """A commit that waits for a standby waits for ever where there is none, and with one, while that one is away."""
    spread = site.postgresql.in_phase(phase)
    if spread.synchronous and spread.instances < FOR_SYNCHRONOUS:
        waits = "is not there" if spread.instances == 1 else "is away whenever its node is"
        yield Broken(
            ("postgresql", f"phase{phase}", "synchronous"),
            f"is true, and instances is {spread.instances}: every commit would wait for a standby that {waits}",
            f"write synchronous: false, or instances: {FOR_SYNCHRONOUS}",
        )


def backups_have_object_storage(postgresql: Postgresql, object_storage: ObjectStorage | None) -> Iterator[Broken]:
    """Backups go to the site's store, with the credentials that the vault then has to hold."""
    if postgresql.backups and object_storage is None:
        yield Broken(
            ("postgresql", "backups"),
            "are asked for, and the site has no object_storage to write them to",
            "describe object_storage (its keys, s3_access_key and s3_secret_key, go into the vault), or take them out",
        )


def databases_are_unique(postgresql: Postgresql) -> Iterator[Broken]:
    """Each application has a database of its own, with an owner of its own."""
    for key in ("name", "owner"):
        entries = (
            (("postgresql", "databases", i, key), look(each, key)) for i, each in enumerate(postgresql.databases)
        )
        for place, value, first in repeats(entries):
            yield Broken(
                place, f"is {value}, as {spell(first)} is", "give each database a name and an owner of its own"
            )


def databases_are_free(postgresql: Postgresql) -> Iterator[Broken]:
    """Some names belong to the server."""
    for index, database in enumerate(postgresql.databases):
        for key, reserved in (("name", RESERVED), ("owner", RESERVED_ROLES)):
            value = look(database, key)
            if is_known(value) and (value in reserved or value.startswith("pg_")):
                yield Broken(
                    ("postgresql", "databases", index, key),
                    f"is {value}, a name that belongs to the server",
                    "name it for its application",
                )


def connections_find_memory(postgresql: Postgresql) -> Iterator[Broken]:
    """Each connection is a process; a quarter of the memory is buffers, and queries want the rest."""
    most = int(postgresql.memory_gib * 1024 * FOR_CONNECTIONS / CONNECTION_MIB)
    if postgresql.connections > most:
        yield Broken(
            ("postgresql", "connections"),
            f"is {postgresql.connections}, at {CONNECTION_MIB} MiB each more than half of the "
            f"{postgresql.memory_gib} GiB that memory_gib gives",
            f"write at most {most}, or more memory_gib",
        )
