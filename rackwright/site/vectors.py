"""The vector store, Qdrant."""

from pydantic import Field

from rackwright.site.hosts import Phase
from rackwright.site.settings import Settings, StorageClass


class VectorsInPhase(Settings):
    """How the store is spread in one phase."""

    replicas: int = Field(default=1, ge=1, le=64, description="Qdrant nodes.")
    replication_factor: int = Field(default=1, ge=1, le=16, description="Copies of every shard.")


class Vectors(Settings):
    """Qdrant: size, place, and the shard number that growth will need, which cannot be changed later."""

    size_gb: int = Field(ge=1, le=1_000_000, description="Volume of each node for vectors, in GB.")
    snapshot_size_gb: int | None = Field(
        default=None, ge=1, le=1_000_000, description="Volume for snapshots; absent: as large as the data."
    )
    memory_gib: int = Field(ge=1, le=32_768, description="Memory of each node, in GiB.")
    cores: int = Field(default=4, ge=1, le=1024, description="Processor threads of each node.")
    shard_number: int = Field(
        default=6, ge=1, le=512, description="Shards of a collection, fixed for good: a multiple of the nodes to come."
    )
    storage_class: StorageClass = Field(
        default="nvme-vectors", description="Block storage only; network file systems corrupt it."
    )
    phase1: VectorsInPhase = Field(default=VectorsInPhase(), description="One node on the one server.")
    phase2: VectorsInPhase = Field(
        default=VectorsInPhase(replicas=3, replication_factor=2),
        description="Three nodes: the least that agree on a leader.",
    )

    def in_phase(self, phase: Phase) -> VectorsInPhase:
        """How it is spread in a phase."""
        return self.phase1 if phase == 1 else self.phase2

    @property
    def snapshots_gb(self) -> int:
        """Volume of each node for snapshots, in GB."""
        return self.snapshot_size_gb or self.size_gb
