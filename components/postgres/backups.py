"""Backups to the site's object storage, by the operator's plugin for Barman."""

from typing import Any

from components.base import Manifest
from components.postgres.objects import CLUSTER, custom
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.postgresql import Backups

PLUGIN = "barman-cloud.cloudnative-pg.io"
STORE = "backups"  # the ObjectStore, the schedule and the policy
KEYS = "object-storage"  # the Secret with the store's keys
SIDECAR = {"cpu": "1", "memory": "1Gi"}  # asked and allowed alike, else the instance's pod were not guaranteed
# Stores of one's own often refuse the checksums that newer S3 clients send unasked.
LENIENT = ("AWS_REQUEST_CHECKSUM_CALCULATION", "AWS_RESPONSE_CHECKSUM_VALIDATION")


def plugin_values() -> dict[str, Any]:
    """What the plugin's chart is told."""
    return {"resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}}


def keys(storage: ObjectStorage, access_key: Any, secret_key: Any) -> Manifest:
    """The store's keys, which the sidecar of every instance reads by name."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": KEYS, "labels": {"cnpg.io/reload": "true"}},
        "stringData": {"access-key": access_key, "secret-key": secret_key, "region": storage.region},
    }


def store(storage: ObjectStorage, backups: Backups) -> Manifest:
    """Where backups go, how small they are made, and how long they are kept."""
    names = {"accessKeyId": "access-key", "secretAccessKey": "secret-key", "region": "region"}
    spec = {
        "retentionPolicy": f"{backups.retention_days}d",
        "configuration": {
            "destinationPath": f"s3://{storage.bucket}/postgresql",
            "endpointURL": storage.endpoint,
            "s3Credentials": {field: {"name": KEYS, "key": key} for field, key in names.items()},
            "wal": {"compression": "zstd", "maxParallel": 4},
            "data": {"compression": "snappy"},  # faster than none, and a third of it (the plugin's own figures)
        },
        "instanceSidecarConfiguration": {
            "resources": {"requests": SIDECAR, "limits": SIDECAR},
            "env": [{"name": name, "value": "when_required"} for name in LENIENT],
        },
    }
    return custom("ObjectStore", STORE, spec, group="barmancloud.cnpg.io")


def archiving(archive: str) -> list[dict[str, Any]]:
    """What a Cluster says of its plugins; each server has a folder of its own, and none begins in another's."""
    parameters = {"barmanObjectName": STORE, "serverName": archive}
    return [{"name": PLUGIN, "isWALArchiver": True, "parameters": parameters}]


def schedule(backups: Backups) -> Manifest:
    """The daily backup, from a standby where there is one, and a first one at once."""
    spec = {
        "schedule": f"0 0 {backups.hour} * * *",  # six fields, the first one seconds
        "immediate": True,
        "backupOwnerReference": "cluster",
        "cluster": {"name": CLUSTER},
        "target": "prefer-standby",
        "method": "plugin",
        "pluginConfiguration": {"name": PLUGIN},
    }
    return custom("ScheduledBackup", STORE, spec)
