"""The data's steps and gates of a live site, by the names that stages.py has for them."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.rollout.backup import Backup, Part
from rackwright.rollout.forwards import Forwards
from rackwright.rollout.gates import Gate
from rackwright.rollout.ground import ROOT, Ground
from rackwright.rollout.load_test import Bench, Door, Figures, Load
from rackwright.rollout.platform.clusters import Behind
from rackwright.rollout.platform.lay import Registered
from rackwright.rollout.platform.stack import PulumiStack
from rackwright.rollout.postgres.backup import PostgresBackup
from rackwright.rollout.postgres.between import sides
from rackwright.rollout.postgres.cluster import PhaseCluster
from rackwright.rollout.postgres.clusters import ClusterPair
from rackwright.rollout.postgres.operator import OperatorBackups
from rackwright.rollout.postgres.part import NothingToPart
from rackwright.rollout.postgres.steps import steps as database_steps
from rackwright.rollout.qdrant.backup import QdrantBackup
from rackwright.rollout.qdrant.steps import steps
from rackwright.rollout.qdrant.store import Store
from rackwright.rollout.room import Releases, Room, Taken, versions_fit
from rackwright.rollout.stand_by import StandBy
from rackwright.rollout.world import Act, World
from rackwright.secrets.authority import NAME as AUTHORITY
from rackwright.secrets.authority import read as read_authority
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase

PHASES: tuple[Phase, Phase] = (1, 2)
QDRANT, QDRANT_LABEL, QDRANT_PORT = "qdrant", "app.kubernetes.io/name=qdrant", 6333
KEPT: list[tempfile.TemporaryDirectory[str]] = []


def world(ground: Ground) -> World:
    """What of the data is carried out and read."""
    way, site = ground.way, ground.way.site
    bench = Bench(site, ground.folder, ground.progress)
    first, second = _door(ground, 1), _door(ground, 2)
    figures = Figures(bench, first, [model.name for model, _ in site.models_in(1)])
    new_figures = Figures(bench, second, [model.name for model, _ in site.models_in(2)])
    load = Load(bench, first, second, way.moving)
    wait = StandBy(ground.folder, way, Behind(ground.access(2)))
    acts: dict[str, Act] = {
        "baseline/figures": figures,
        "proof/load": load,
        "stand-by/wait": wait,
        "report/figures": new_figures,
    }
    gates: dict[str, Gate] = {
        "baseline/figures baseline-recorded": figures.recorded,
        "report/figures baseline-recorded": new_figures.recorded,
        "load-carried": load.carried,
        "stood-by": wait.stood_by,
    }
    stores = {phase: _store(ground, phase) for phase in (1, 2)}
    servers = {phase: _backups(ground, phase) for phase in (1, 2)}
    room = Room(lambda: _asked(servers[1], stores[1]), site, Catalog.load())
    acts["baseline/room"] = room
    gates |= {"baseline/room versions-fit": room.versions_fit, "baseline/room space": room.space, "space": room.space}
    acts["no-return/part"] = NothingToPart()
    if way.settings.copies_data:
        both = steps(stores[1], stores[2], site.vectors, ground.progress)
        backup = Backup(_parts(ground, 1, servers[1], QdrantBackup(stores[1], ground.progress)))
        last = Backup(_parts(ground, 2, servers[2]))
        pair = _pair(ground)
        databases = database_steps(pair, way.databases)
        acts |= {**both.acts, **databases.acts, "baseline/backup": backup}
        gates |= {
            **both.gates,
            **databases.gates,
            "backup-restored": backup.restored,
            "no-return/part backup-restored": last.proved,
            "versions-fit": lambda: versions_fit(
                Releases.running(servers[1].server, stores[1]),
                Releases.running(servers[2].server if pair.has_copy() else None, stores[2]),
            ),
        }
    return World(acts, gates)


@dataclass(frozen=True)
class _None:
    """PostgreSQL of a site that keeps no backups."""

    name: str

    def prove(self) -> str:
        """There is nothing to prove."""
        raise Refusal(
            f"{self.name} keeps no backups of PostgreSQL.",
            "Write postgresql.backups and object_storage into the site file, and pulumi up -s phase1; then go on.",
        )

    def is_left(self) -> bool:
        """Nothing was ever restored."""
        return False

    def remove(self) -> None:
        """Nothing."""


def _parts(ground: Ground, phase: Phase, backups: OperatorBackups, *more: Part) -> list[Part]:
    postgresql = ground.way.site.postgresql
    if postgresql.backups is None:
        return [_None(f"{ground.way.site.name}'s phase {phase}"), *more]
    return [PostgresBackup(backups, [database.name for database in postgresql.databases]), *more]


def _pair(ground: Ground) -> ClusterPair:
    first, second = (
        PhaseCluster(f"phase {phase}'s PostgreSQL", side, _kubectl(ground, phase), ground.environment)
        for phase, side in zip(PHASES, sides(ground.way), strict=True)
    )
    stack = PulumiStack(ground.folder, 2, ROOT, environment=ground.environment)
    return ClusterPair(first, second, Registered(stack))


def _asked(backups: OperatorBackups, store: Store) -> tuple[Releases, Taken]:
    return Releases.running(backups.server, store), Taken.of(backups.server, store)


def _backups(ground: Ground, phase: Phase) -> OperatorBackups:
    return OperatorBackups(_kubectl(ground, phase), f"{ground.way.site.name}-phase{phase}", ground.environment)


def _store(ground: Ground, phase: Phase) -> Store:
    ways = Forwards(_kubectl(ground, phase), QDRANT, QDRANT_LABEL, QDRANT_PORT, ground.environment)
    return Store(f"phase {phase}'s Qdrant", ways, ground.values.get("qdrant_api_key", ""))


def _kubectl(ground: Ground, phase: Phase) -> tuple[str, ...]:
    return (ground.kubectl, f"--kubeconfig={ground.kubeconfig(phase)}")


def _door(ground: Ground, phase: Phase) -> Door:
    """By its address, which its certificate bears, with the key of the first tenant."""
    site = ground.way.site
    address = f"https://{site.door(phase)}:{site.gateway.port}"
    return Door(f"phase {phase}", address, _authority(ground.values), ground.values.get(site.tenants[0].key, ""))


def _authority(values: Mapping[str, str]) -> Path | None:
    """The authority's certificate in a file, which programs want; it is no secret."""
    return _file(read_authority(values[AUTHORITY]).certificate) if AUTHORITY in values else None


@cache
def _file(text: str) -> Path:
    """For as long as this process lives."""
    folder = tempfile.TemporaryDirectory(prefix="rackwright-")
    KEPT.append(folder)
    file = Path(folder.name, "ca.crt")
    file.write_text(text, encoding="utf-8")
    return file
