"""Both phases' PostgreSQL as two Clusters of one real Kubernetes API, with all that plays in them."""

import os
from dataclasses import replace
from pathlib import Path

from definitions import definitions
from local_pair import DATABASES
from played_operator import PlayedStack, TickedCluster
from played_world import lab

from rackwright.rollout.postgres.acts import Copy, CutOver, FollowBack
from rackwright.rollout.postgres.between import NAME, sides
from rackwright.rollout.postgres.clusters import ClusterPair
from rackwright.rollout.postgres.part import Part
from rackwright.rollout.way import way
from rackwright.site.catalog import Catalog

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = ROOT / "rackwright" / "sandbox" / "charts" / "cloudnative-pg" / "crds" / "definitions.yaml"


class Ground:
    """Both sides with all that plays in them."""

    def __init__(self, operator, stacks, pair, clusters, folder):
        self.operator, self.stacks, self.local, self.pair, self.folder = operator, stacks, pair, clusters, folder
        self.steps = (Copy(clusters), CutOver(clusters, DATABASES), FollowBack(clusters), Part(clusters))

    def cluster(self, phase):
        return self.operator.get("clusters.postgresql.cnpg.io", "postgres", f"phase{phase}")

    def left(self, phase):
        """What of the rollout lies in a phase."""
        others = (f"phase{other}-{what}" for other in (1, 2) for what in ("replication", "ca"))
        named = (f"service/{NAME}", f"networkpolicy/{NAME}", *(f"secret/{name}" for name in others))
        return self.operator.there(f"phase{phase}", *named)


def ground_of(operator, local, folder):
    """Phase 1's server in its Cluster, and phase 2 without one."""
    old, new = sides(way(lab()))
    image = Catalog.load().images["postgresql"]
    environment = os.environ | {"KUBECACHEDIR": str(folder / "cache")}
    clusters = [
        TickedCluster(f"phase-{number}", side, operator.program(f"phase{number}"), environment, local)
        for number, side in ((1, old), (2, replace(new, port=old.port + 1)))  # one API has each port once
    ]
    stacks = [PlayedStack(operator, lab(), image, phase) for phase in (1, 2)]
    stacks[0].put("own")
    return Ground(operator, stacks, local, ClusterPair(*clusters, stacks[1]), folder)


def kinds():
    """The operator's kinds: upstream's where they are to be had."""
    folder = os.environ.get("RACKWRIGHT_UPSTREAM")
    files = sorted(Path(folder, "crds", "cloudnative-pg").glob("*.yaml")) if folder else [STAND_IN]
    return definitions(files)
