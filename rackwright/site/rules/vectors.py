"""The vector store: copies need nodes, and shards are spread evenly over them for good."""

from collections.abc import Iterator

from rackwright.site.hosts import Phase
from rackwright.site.reading.judge import Broken
from rackwright.site.site import Site


def first_phase_has_one_store(site: Site) -> Iterator[Broken]:
    """On one server a second copy costs twice and saves nothing."""
    replicas = site.vectors.phase1.replicas
    if 1 in site.phases and replicas > 1:
        yield Broken(
            ("vectors", "phase1", "replicas"),
            f"is {replicas}, and phase 1 is one server, which all of them would share",
            "write 1",
        )


def copies_have_nodes(site: Site, phase: Phase) -> Iterator[Broken]:
    """Two copies of a shard on one node are one copy."""
    spread = site.vectors.in_phase(phase)
    if spread.replication_factor > spread.replicas:
        yield Broken(
            ("vectors", f"phase{phase}", "replication_factor"),
            f"is {spread.replication_factor}, and there are {spread.replicas} nodes",
            f"write at most {spread.replicas}",
        )


def stores_can_agree(site: Site) -> Iterator[Broken]:
    """Two nodes agree only while both are up, which is less than one alone."""
    if 2 in site.phases and site.vectors.phase2.replicas == 2:
        yield Broken(
            ("vectors", "phase2", "replicas"),
            "is 2, and two nodes stop deciding when either fails",
            "write 3: the least that go on when one fails (or 1)",
        )


def shards_are_spread_evenly(site: Site) -> Iterator[Broken]:
    """The number of shards is fixed when a collection is made, so it fits the nodes that will come."""
    if 2 not in site.phases:
        return
    shards, spread = site.vectors.shard_number, site.vectors.phase2
    if shards % spread.replicas or shards < spread.replicas * spread.replication_factor:
        least = spread.replicas * spread.replication_factor
        yield Broken(
            ("vectors", "shard_number"),
            f"is {shards}, which is not a multiple of the {spread.replicas} nodes of phase 2 and at least {least} "
            f"({spread.replicas} nodes, {spread.replication_factor} copies); it cannot be changed later",
            f"write {least} or {2 * least}",
        )
