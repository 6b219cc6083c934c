"""PostgreSQL: one server, one database and owner for each application."""

from types import MappingProxyType
from typing import Literal, get_args

from pydantic import Field

from rackwright.site.hosts import Phase
from rackwright.site.settings import Identifier, Settings, StorageClass


class Database(Settings):
    """A database of an application and the role that owns it."""

    name: Identifier = Field(description="The database.")
    owner: Identifier = Field(description="The role that owns it; each database has its own.")


class PostgresqlInPhase(Settings):
    """How the server is spread in one phase."""

    instances: int = Field(default=1, ge=1, le=9, description="Servers: one primary, the others standby.")
    synchronous: bool = Field(default=False, description="True: a commit waits for a standby, so that none is lost.")


# Whose databases phase 2 has: its own; phase 1's, which are yet to come; or a copy of phase 1's, which follows.
Databases = Literal["own", "awaited", "copied"]
DATABASES: tuple[Databases, ...] = get_args(Databases)
STACKS_FIELDS = "rackwright-stack"  # under this name both stacks say what a server is; the rollout founds one under it
PORT_BETWEEN_PHASES = 30432  # of every node, while a site's data are copied: inside Kubernetes' range for such ports
# What the operator founds a server with, in its own words; nobody's database, since applications have theirs.
FIRST_DATABASE = MappingProxyType({
    "database": "rackwright",
    "owner": "rackwright",
    "dataChecksums": True,
    "encoding": "UTF8",
    "localeProvider": "builtin",  # one order of text whatever the image's C library is
    "builtinLocale": "C.UTF-8",
    "locale": "C.UTF-8",
})  # fmt: skip
APPLICATIONS = tuple(Database(name=name, owner=name) for name in ("langgraph", "mlflow", "langfuse"))


class Backups(Settings):
    """Backups to the site's object storage: the write-ahead log all the time, and everything once a day."""

    hour: int = Field(default=2, ge=0, le=23, description="The hour of the daily backup, UTC.")
    retention_days: int = Field(
        default=30, ge=1, le=3650, description="Any moment of the last so many days can be returned to."
    )


class Postgresql(Settings):
    """The database server, its volumes and its databases."""

    size_gb: int = Field(ge=1, le=1_000_000, description="Volume for data, in GB.")
    wal_size_gb: int = Field(ge=1, le=1_000_000, description="Volume for the write-ahead log, in GB.")
    memory_gib: int = Field(
        ge=1, le=32_768, description="Memory of each instance, in GiB; its buffers are derived from it."
    )
    cores: int = Field(default=4, ge=1, le=1024, description="Processor threads of each instance.")
    connections: int = Field(default=200, ge=20, le=5000, description="Connections at once, over all applications.")
    storage_class: StorageClass = Field(default="nvme-database", description="Block storage only.")
    databases: tuple[Database, ...] = Field(
        default=APPLICATIONS,
        min_length=1,
        description="LangGraph's checkpoints, MLflow's runs and Langfuse's traces by default.",
    )
    backups: Backups | None = Field(default=None, description="Backups to object_storage; absent: none.")
    phase1: PostgresqlInPhase = Field(default=PostgresqlInPhase(), description="One instance on the one server.")
    phase2: PostgresqlInPhase = Field(
        default=PostgresqlInPhase(instances=3, synchronous=True), description="Three instances on three nodes."
    )

    def in_phase(self, phase: Phase) -> PostgresqlInPhase:
        """How it is spread in a phase."""
        return self.phase1 if phase == 1 else self.phase2
