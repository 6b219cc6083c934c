"""Traces of what agents and people asked: Langfuse."""

from pydantic import Field

from rackwright.site.settings import Settings, StorageClass


class Langfuse(Settings):
    """Langfuse in phase 2, with a ClickHouse and a Valkey of its own, the site's PostgreSQL and its object storage."""

    size_gb: int = Field(ge=10, le=1_000_000, description="Volume for traces, in GB; what was sent is in objects too.")
    memory_gib: int = Field(default=16, ge=4, le=32_768, description="Memory of ClickHouse, in GiB.")
    cores: int = Field(default=4, ge=1, le=1024, description="Processor threads of ClickHouse.")
    storage_class: StorageClass = Field(default="nvme-database", description="Block storage only.")
