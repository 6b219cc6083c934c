"""PostgreSQL: CloudNativePG, one cluster, and a database with an owner of its own for every application."""

from collections.abc import Mapping
from typing import Any

import pulumi

from components.base import Chart, Component, Manifest
from components.base.network import (
    Rule,
    from_anyone,
    from_peers,
    labelled_namespaces,
    names,
    neighbours,
    policy,
    scrapes,
    to_peers,
)
from rackwright.site.catalog import Image
from rackwright.site.postgresql import Database, Postgresql, PostgresqlInPhase

SQL_PORT, STATUS_PORT, METRICS_PORT, WEBHOOK_PORT = 5432, 8000, 9187, 9443
CLUSTER = "postgres"
ACCESS = "rackwright/uses-postgres"  # a namespace with this label set to "true" may reach the server
OPERATORS_CONNECTIONS = 20  # for the operator, replication and the exporter, beside the applications'


def values() -> dict[str, Any]:
    """What the operator's chart is told."""
    return {"crds": {"create": True}, "config": {"clusterWide": False}}  # it rules its own namespace only


def parameters(postgresql: Postgresql) -> dict[str, str]:
    """The server's settings for its memory, cores and connections on NVMe; every value is a string."""
    memory_mb, cores = postgresql.memory_gib * 1024, postgresql.cores
    return {
        "max_connections": str(postgresql.connections + OPERATORS_CONNECTIONS),
        "shared_buffers": f"{memory_mb // 4}MB",
        "effective_cache_size": f"{memory_mb * 65 // 100}MB",
        "maintenance_work_mem": f"{min(2048, max(64, memory_mb // 16))}MB",
        # A quarter of the memory over all connections: one query may take it several times, few take it at once.
        "work_mem": f"{max(4, memory_mb // 4 // postgresql.connections)}MB",
        "huge_pages": "off",  # a pod that does not request them is killed when it touches one
        **_log_of_writes(postgresql),
        **_processors(cores),
        "random_page_cost": "1.1",
        "effective_io_concurrency": "200",
        "autovacuum_vacuum_scale_factor": "0.05",
        "autovacuum_analyze_scale_factor": "0.02",
        "autovacuum_vacuum_cost_limit": "2000",
        "idle_in_transaction_session_timeout": "10min",
        "jit": "off",  # it costs more than it gives on short queries
        "track_io_timing": "on",
        "log_min_duration_statement": "1s",
        "log_lock_waits": "on",
        "pg_stat_statements.max": "10000",  # the operator loads the library for it
        "pg_stat_statements.track": "all",
    }


def cluster(postgresql: Postgresql, spread: PostgresqlInPhase, *, image: Image) -> Manifest:
    """The server: its instances, volumes, settings and roles."""
    size = {"cpu": str(postgresql.cores), "memory": f"{postgresql.memory_gib}Gi"}
    several = spread.instances > 1
    spec: dict[str, Any] = {
        "instances": spread.instances,
        "imageName": image.reference,
        "enableSuperuserAccess": False,
        "enablePDB": several,  # a budget over one instance would keep its node from ever being drained
        "resources": {"requests": size, "limits": size},  # guaranteed, so that its buffers are never taken back
        "storage": _volume(postgresql, postgresql.size_gb),
        "walStorage": _volume(postgresql, postgresql.wal_size_gb),
        "affinity": {
            "topologyKey": "kubernetes.io/hostname",
            "podAntiAffinityType": "required" if several else "preferred",
        },
        "bootstrap": {"initdb": _first_database()},
        "managed": {"roles": [_role(owner) for owner in owners(postgresql)]},
        "postgresql": {"parameters": parameters(postgresql)},
    }
    if spread.synchronous:
        spec["postgresql"]["synchronous"] = {"method": "any", "number": 1, "dataDurability": "required"}
    return _custom("Cluster", CLUSTER, spec)


def database(wanted: Database) -> Manifest:
    """One application's database."""
    spec = {"name": wanted.name, "owner": wanted.owner, "cluster": {"name": CLUSTER}}
    return _custom("Database", _object_name(wanted.name), spec)


def owners(postgresql: Postgresql) -> tuple[str, ...]:
    """Roles that own a database, each once."""
    return tuple(dict.fromkeys(database.owner for database in postgresql.databases))


def password(owner: str, value: Any) -> Manifest:
    """An owner's name and password, which the operator gives to the server and applications read."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/basic-auth",
        "metadata": {"name": secret_name(owner), "labels": {"cnpg.io/reload": "true"}},
        "stringData": {"username": owner, "password": value},
    }


def secret_name(owner: str) -> str:
    """The Secret of an owner."""
    return f"{CLUSTER}-{_object_name(owner)}"


def monitor(scrape_interval_s: int) -> Manifest:
    """Where Prometheus finds the instances; the operator's own monitor is deprecated."""
    endpoints = [{"port": "metrics", "interval": f"{scrape_interval_s}s"}]
    spec = {"selector": {"matchLabels": {"cnpg.io/cluster": CLUSTER}}, "podMetricsEndpoints": endpoints}
    return {"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": {"name": CLUSTER}, "spec": spec}


class Postgres(Component):
    """The operator, the server, and every application's database with its owner."""

    def __init__(
        self,
        name: str,
        postgresql: Postgresql,
        *,
        chart: Chart,
        image: Image,
        spread: PostgresqlInPhase,
        secrets: Mapping[str, pulumi.Input[str]],
        to_api: Rule,
        scrape_interval_s: int,
        monitors: pulumi.Resource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts)
        self._shut(to_api)
        # Until the operator's webhook is at work, the API server refuses every cluster and database.
        operator = self.release(chart, values())
        given = [self.add(password(owner, secrets[f"postgresql_{owner}_password"])) for owner in owners(postgresql)]
        server = self.add(cluster(postgresql, spread, image=image), after=[operator, *given])
        for wanted in postgresql.databases:
            self.add(database(wanted), after=[server])
        self.add(monitor(scrape_interval_s), after=[monitors])
        reached = {each.name: f"{name}/{secret_name(each.owner)}" for each in postgresql.databases}
        self.reached = {
            "host": f"{CLUSTER}-rw.{name}.svc",
            "port": SQL_PORT,
            "database_secrets": reached,
            "namespace_label": f"{ACCESS}=true",
        }
        self.register_outputs(self.reached)

    def _shut(self, to_api: Rule) -> None:
        peers = [neighbours()]
        ways_in = [
            from_anyone(WEBHOOK_PORT),
            from_peers([labelled_namespaces(ACCESS)], SQL_PORT),
            from_peers(peers, SQL_PORT, STATUS_PORT),  # standbys and the operator
            scrapes(METRICS_PORT),
        ]
        ways_out = [names(), to_api, to_peers(peers, SQL_PORT, STATUS_PORT)]
        self.add(policy(self.name, ingress=ways_in, egress=ways_out))


def _log_of_writes(postgresql: Postgresql) -> dict[str, str]:
    """Settings of the write-ahead log, inside its volume."""
    largest_mb = min(32 * 1024, postgresql.wal_size_gb * 1000 // 4)
    return {
        "max_wal_size": f"{largest_mb}MB",
        "min_wal_size": f"{max(80, largest_mb // 4)}MB",
        "wal_keep_size": f"{min(2048, largest_mb // 4)}MB",
        "wal_buffers": "64MB",
        "wal_compression": "zstd",
        "checkpoint_timeout": "15min",
    }


def _processors(cores: int) -> dict[str, str]:
    return {
        "max_worker_processes": str(max(8, cores)),
        "max_parallel_workers": str(cores),
        "max_parallel_workers_per_gather": str(min(4, max(1, cores // 2))),
        "max_parallel_maintenance_workers": str(min(4, max(1, cores // 2))),
        "io_method": "worker",
        "io_workers": str(min(32, max(3, cores // 4))),
    }


def _volume(postgresql: Postgresql, size_gb: int) -> dict[str, Any]:
    return {"size": f"{size_gb}G", "storageClass": postgresql.storage_class, "resizeInUseVolumes": True}


def _first_database() -> dict[str, Any]:
    """The database that every cluster begins with; it is nobody's, since applications have their own."""
    return {
        "database": "rackwright",
        "owner": "rackwright",
        "dataChecksums": True,
        "encoding": "UTF8",
        "localeProvider": "builtin",  # one order of text whatever the image's C library is
        "builtinLocale": "C.UTF-8",
        "locale": "C.UTF-8",
    }


def _role(owner: str) -> dict[str, Any]:
    return {"name": owner, "ensure": "present", "login": True, "passwordSecret": {"name": secret_name(owner)}}


def _object_name(identifier: str) -> str:
    return identifier.replace("_", "-")


def _custom(kind: str, name: str, spec: dict[str, Any]) -> Manifest:
    return {"apiVersion": "postgresql.cnpg.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
