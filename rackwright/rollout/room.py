"""The step `baseline/room`: releases and room are compared, and nothing is changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rackwright.rollout.gates import SPARE, Reading
from rackwright.rollout.postgres.server import Server
from rackwright.rollout.qdrant.store import Store, version
from rackwright.rollout.world import Found, State
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

GB = 10**9


@dataclass(frozen=True)
class Releases:
    """Of one phase; as servers tell them, or as the catalog pins them."""

    postgresql: str
    qdrant: str

    @classmethod
    def running(cls, server: Server | None, store: Store) -> "Releases":
        """Ask both; a server that is yet to come will be what the catalog pins."""
        told = server.sql("SHOW server_version").split()[0] if server else cls.pinned(Catalog.load()).postgresql
        return cls(told, version(store))

    @classmethod
    def pinned(cls, catalog: Catalog) -> "Releases":
        """What a new phase gets."""
        return cls(catalog.images["postgresql"].tag.split("-")[0], catalog.charts["qdrant"].version)


def versions_fit(first: Releases, second: Releases) -> Reading:
    """The gate: one major of PostgreSQL, since its copy is one of files, and one minor of Qdrant."""
    seen = (
        f"PostgreSQL {first.postgresql} and {second.postgresql}, Qdrant {first.qdrant} and {second.qdrant}"
        if first != second
        else f"PostgreSQL {first.postgresql} and Qdrant {first.qdrant} in both"
    )
    fits = _part(first.postgresql, 1) == _part(second.postgresql, 1) and _part(first.qdrant, 2) == _part(
        second.qdrant, 2
    )
    return Reading(fits, seen, "one major of PostgreSQL and one minor of Qdrant in both phases")


@dataclass(frozen=True)
class Taken:
    """What phase 1's data take now, in bytes: PostgreSQL's databases, and by Qdrant's own estimate its points."""

    postgresql: int
    qdrant: int

    @classmethod
    def of(cls, server: Server, store: Store) -> "Taken":
        """Ask both."""
        return cls(int(server.sql("SELECT sum(pg_database_size(oid))::bigint FROM pg_database")), _estimated(store))


def space(site: Site, taken: Taken) -> Reading:
    """The gate: phase 2's volumes, as the site has them, against what is there now.

    That volumes fit on the new hosts' drives is a rule of the site; that these are as large as stated, preflight's.
    """
    vectors = site.vectors.phase2
    volumes = {
        "PostgreSQL": (taken.postgresql, site.postgresql.size_gb * GB),
        "Qdrant": (taken.qdrant, site.vectors.size_gb * GB * vectors.replicas // vectors.replication_factor),
    }
    said = [
        f"{name} takes {data / GB:.3g} GB of {volume / GB:.4g} GB in phase 2"
        for name, (data, volume) in volumes.items()
    ]
    fits = all(data * SPARE <= volume for data, volume in volumes.values())
    return Reading(fits, ", ".join(said), f"{SPARE:g} times the room that data take now")


@dataclass
class Room:
    """The step itself reads, so that what cannot be asked is told here; its gates judge."""

    ask: Callable[[], tuple[Releases, Taken]]
    site: Site
    catalog: Catalog
    found: tuple[Releases, Taken] | None = field(default=None, init=False)

    def look(self) -> Found:
        """Done where it was asked by this command."""
        return Found(State.ABSENT, "not asked yet") if self.found is None else Found(State.DONE, "asked")

    def do(self) -> None:
        """Ask."""
        self.found = self.ask()

    def undo(self) -> None:
        """Nothing."""

    def versions_fit(self) -> Reading:
        """Phase 1 as it runs against what phase 2 will get."""
        return versions_fit((self.found or self.ask())[0], Releases.pinned(self.catalog))

    def space(self) -> Reading:
        """Room for what is there now."""
        return space(self.site, (self.found or self.ask())[1])


def _estimated(store: Store) -> int:
    """Vectors and payloads of all shards, a copy of each."""
    total = 0
    for node in range(len(store.addresses)):
        told = store.result("GET", "/telemetry?details_level=3", node=node)
        for collection in told["collections"].get("collections") or []:
            copies = max(1, collection["config"]["params"].get("replication_factor") or 1)
            for shard in collection.get("shards") or []:
                local = shard.get("local") or {}
                total += ((local.get("vectors_size_bytes") or 0) + (local.get("payloads_size_bytes") or 0)) // copies
    return total


def _part(release: str, parts: int) -> Sequence[str]:
    return release.split(".")[:parts]
