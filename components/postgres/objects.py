"""The server, its roles and databases, as the operator's own kinds."""

from collections.abc import Sequence
from typing import Any

from components.base import Manifest
from components.postgres.parameters import parameters
from rackwright.site.catalog import Image
from rackwright.site.postgresql import FIRST_DATABASE, STACKS_FIELDS, Database, Postgresql, PostgresqlInPhase

CLUSTER = "postgres"
# A commit waits until one standby, whichever, has it on its drive, and a standby that may lack it is never promoted:
# rather no primary than one that forgot (replication.md and failover.md of CloudNativePG 1.30).
SYNCHRONOUS = {"method": "any", "number": 1, "dataDurability": "required", "failoverQuorum": True}


def cluster(
    postgresql: Postgresql, spread: PostgresqlInPhase, *, image: Image, plugins: Sequence[dict[str, Any]] = ()
) -> Manifest:
    """The server: its instances, volumes, settings and roles, and the plugins that keep its backups."""
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
        "bootstrap": {"initdb": dict(FIRST_DATABASE)},
        "managed": {"roles": [_role(owner) for owner in owners(postgresql)]},
        "postgresql": {"parameters": parameters(postgresql)},
    }
    if spread.synchronous:
        spec["postgresql"]["synchronous"] = SYNCHRONOUS
    if plugins:
        spec["plugins"] = list(plugins)
    found = custom("Cluster", CLUSTER, spec)
    found["metadata"]["annotations"] = {"pulumi.com/patchFieldManager": STACKS_FIELDS}  # else each update's is its own
    return found


def without_founding(server: Manifest) -> Manifest:
    """The server as it is registered where the rollout founds it: how it began is said once, by whoever made it."""
    return {**server, "spec": {key: value for key, value in server["spec"].items() if key != "bootstrap"}}


def database(wanted: Database) -> Manifest:
    """One application's database."""
    spec = {"name": wanted.name, "owner": wanted.owner, "cluster": {"name": CLUSTER}}
    return custom("Database", _object_name(wanted.name), spec)


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


def custom(kind: str, name: str, spec: dict[str, Any], *, group: str = "postgresql.cnpg.io") -> Manifest:
    """An object of one of the operator's own kinds."""
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _volume(postgresql: Postgresql, size_gb: int) -> dict[str, Any]:
    return {"size": f"{size_gb}G", "storageClass": postgresql.storage_class, "resizeInUseVolumes": True}


def _role(owner: str) -> dict[str, Any]:
    return {"name": owner, "ensure": "present", "login": True, "passwordSecret": {"name": secret_name(owner)}}


def _object_name(identifier: str) -> str:
    return identifier.replace("_", "-")
