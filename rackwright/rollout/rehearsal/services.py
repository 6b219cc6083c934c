"""Data in a rehearsal: local services behind both phases, and the rollout's own steps for them."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from rackwright.rollout.data import QDRANT, QDRANT_LABEL, QDRANT_PORT
from rackwright.rollout.forwards import Forwards
from rackwright.rollout.gates import Gate, Reading
from rackwright.rollout.platform.lay import Registered
from rackwright.rollout.postgres.between import sides
from rackwright.rollout.postgres.cluster import PhaseCluster
from rackwright.rollout.postgres.clusters import ClusterPair
from rackwright.rollout.postgres.steps import steps as database_steps
from rackwright.rollout.qdrant.steps import steps as collection_steps
from rackwright.rollout.qdrant.store import Store
from rackwright.rollout.rehearsal.databases import Databases, databases, missing
from rackwright.rollout.rehearsal.figures import Figures
from rackwright.rollout.rehearsal.ground import Cluster
from rackwright.rollout.rehearsal.kubectl import stand_in
from rackwright.rollout.rehearsal.stores import Stores, stores
from rackwright.rollout.room import Releases, versions_fit
from rackwright.rollout.way import Way
from rackwright.rollout.world import Act

FIT = ("copy/postgresql versions-fit", "copy/qdrant versions-fit")


@dataclass(frozen=True)
class Services:
    """What runs here, with the steps and gates that are real by it; none for a site that copies no data."""

    acts: Mapping[str, Act] = field(default_factory=dict)
    gates: Mapping[str, Gate] = field(default_factory=dict)
    databases: Databases | None = None
    stores: Stores | None = None
    without: str = ""

    @property
    def copies_databases(self) -> bool:
        """Whether phase 2's databases come as a copy."""
        return self.databases is not None

    def leave_phase_1(self) -> None:
        """Its machines are gone, with what ran on them."""
        for each in (self.databases, self.stores):
            if each is not None:
                each.leave()

    def figures(self) -> tuple[Figures, ...]:
        """What was written, and what of it is lost."""
        return tuple(each.figures() for each in (self.databases, self.stores) if each is not None)


@contextmanager
def services(way: Way, first: Cluster, second: Cluster, values: Mapping[str, str]) -> Iterator[Services]:
    """Local services of a site that copies data; phase 1's platform is there, phase 2's not yet."""
    if not way.settings.copies_data:
        yield Services()
        return
    with ExitStack() as leaving:
        servers = leaving.enter_context(databases(way.site.postgresql.databases, first, second))
        kept = leaving.enter_context(stores(values["qdrant_api_key"]))
        programs = [_program(each, servers, kept, index) for index, each in enumerate((first, second))]
        ways = [
            Forwards([program], QDRANT, QDRANT_LABEL, QDRANT_PORT, each.environment)
            for program, each in zip(programs, (first, second), strict=True)
        ]
        for each in ways:
            leaving.callback(each.close)
        old, new = (Store(f"phase {index + 1}'s Qdrant", found, kept.key) for index, found in enumerate(ways))
        both = collection_steps(old, new, way.site.vectors, first.progress)
        acts, gates = dict(both.acts), dict(both.gates)
        if servers is not None:
            clusters = [
                PhaseCluster(f"phase {each.phase}'s PostgreSQL", side, [program], each.environment)
                for each, side, program in zip((first, second), sides(way), programs, strict=True)
            ]
            pair = ClusterPair(clusters[0], clusters[1], Registered(second.stack))
            mine = database_steps(pair, way.databases)
            acts, gates = {**acts, **mine.acts}, {**gates, **mine.gates}
            gates |= dict.fromkeys(FIT, lambda: _versions_fit(pair, old, new))
        yield Services(acts, gates, servers, kept, "" if servers else missing())


def _versions_fit(pair: ClusterPair, old: Store, new: Store) -> Reading:
    there = Releases.running(pair.new if pair.has_copy() else None, new)
    return versions_fit(Releases.running(pair.old, old), there)


def _program(cluster: Cluster, servers: Databases | None, kept: Stores, index: int) -> str:
    server = servers.servers[index] if servers else None
    address = kept.stand_ins[index].address.removeprefix("http://")
    file = cluster.plane.folder / "kubectl-with-data"
    return str(stand_in(file, cluster.kubectl, server=server, store=(address, QDRANT_PORT)))
