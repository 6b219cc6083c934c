"""Volumes that a phase asks for, by the purpose of the drives that they lie on."""

import math
from dataclasses import dataclass

from rackwright.site.hosts import Host, Phase, Purpose
from rackwright.site.node_marks import taints
from rackwright.site.reading.faults import Place
from rackwright.site.site import Site
from rackwright.site.storage_classes import VOLUME_PURPOSES, storage_class

SPARE_GB = 10  # left free in each volume group, for metadata and repairs
ALERTS_GB = 2  # Alertmanager's volume, beside that of the metrics
LANGFUSE_QUEUE_GB = 10  # Valkey's volume, beside that of the traces
GB_PER_GIB = 2**30 / 10**9


@dataclass(frozen=True)
class Volume:
    """What one pod keeps on one host, and how many such pods there are, each on a host of its own."""

    owner: str
    place: Place
    purpose: Purpose
    size_gb: int
    pods: int = 1


def purpose_of(storage_class_name: str) -> Purpose | None:
    """The purpose that a storage class stands for; None for a class that Rackwright does not make."""
    return next((purpose for purpose in VOLUME_PURPOSES if storage_class(purpose) == storage_class_name), None)


def room_gb(host: Host, purpose: Purpose) -> int:
    """Room for volumes on a host's drives of one purpose."""
    return max(0, host.disk_gb(purpose) - SPARE_GB)


def data_hosts(site: Site) -> tuple[Host, ...]:
    """Hosts of phase 2 whose nodes take pods of data: those that no taint keeps for something else."""
    return tuple(host for host in site.hosts_in(2) if not taints(2, host))


def model_volumes(site: Site, phase: Phase) -> list[Volume]:
    """One volume a model, for weights twice over and compiled kernels."""
    return [
        Volume(model.name, ("models", index), "models", math.ceil(model.volume_gib * GB_PER_GIB))
        for index, model, _ in site.numbered_models_in(phase)
    ]


def data_volumes(site: Site, phase: Phase) -> list[Volume]:
    """Volumes of vectors, databases, metrics and traces; those of classes that nobody makes are left out."""
    vectors, postgresql, monitoring = site.vectors, site.postgresql, site.monitoring
    stores = vectors.in_phase(phase)
    servers = postgresql.in_phase(phase)
    wanted = (
        ("vectors", vectors.storage_class, vectors.size_gb + vectors.snapshots_gb, stores.replicas),
        ("postgresql", postgresql.storage_class, postgresql.size_gb + postgresql.wal_size_gb, servers.instances),
        ("monitoring", monitoring.storage_class, monitoring.size_gb + ALERTS_GB, 1),
        *_traces(site, phase),
    )
    return [
        Volume(owner, (owner, "size_gb"), purpose, size, pods)
        for owner, class_name, size, pods in wanted
        if (purpose := purpose_of(class_name))
    ]


def _traces(site: Site, phase: Phase) -> list[tuple[str, str, int, int]]:
    langfuse = site.langfuse if phase == 2 else None
    return [("langfuse", langfuse.storage_class, langfuse.size_gb + LANGFUSE_QUEUE_GB, 1)] if langfuse else []
