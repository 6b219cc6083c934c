"""What the chart is told: every store is somebody else's."""

from collections.abc import Mapping
from typing import Any

from components.langfuse.stores import (
    CLICKHOUSE,
    CLICKHOUSE_NATIVE_PORT,
    CLICKHOUSE_PORT,
    KEYS,
    VALKEY,
    VALKEY_PORT,
)
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.postgresql import Database

PORT = 3000
ADDRESS = f"http://localhost:{PORT}"  # people come by a port-forward, and it sends them back there after a login
PROJECT = "agents"
ADMINISTRATOR = "admin@rackwright.invalid"
USER = 1001  # of the images


def values(name: str, database: Database, storage: ObjectStorage, server: Mapping[str, Any]) -> dict[str, Any]:
    """All of it; nothing in it is secret."""
    return {
        "langfuse": _programs(),
        "postgresql": {
            "deploy": False,
            "host": server["host"],
            "port": server["port"],
            "auth": {
                "username": database.owner,
                "database": database.name,
                "existingSecret": KEYS,
                "secretKeys": {"userPasswordKey": "postgresql"},
            },
        },
        "redis": {
            "deploy": False,
            "host": f"{VALKEY}.{name}.svc",
            "port": VALKEY_PORT,
            "auth": {"existingSecret": KEYS, "existingSecretPasswordKey": VALKEY},
        },
        "clickhouse": {
            "deploy": False,
            "host": f"{CLICKHOUSE}.{name}.svc",
            "httpPort": CLICKHOUSE_PORT,
            "nativePort": CLICKHOUSE_NATIVE_PORT,
            "database": "langfuse",
            "auth": {"username": "langfuse", "existingSecret": KEYS, "existingSecretKey": CLICKHOUSE},
            "cluster": {"enabled": False},
        },
        "s3": _objects(storage),
    }


def _programs() -> dict[str, Any]:
    return {
        "salt": _of("salt"),
        "encryptionKey": _of("encryption-key"),
        "nextauth": {"url": ADDRESS, "secret": _of("nextauth")},
        "features": {"telemetryEnabled": False, "signUpDisabled": True},
        "serviceAccount": {"automountServiceAccountToken": False},
        "podSecurityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "image": {"pullPolicy": "IfNotPresent"},
        "replicas": 2,  # each with a budget of the chart's own, so that a node's drain takes one
        "pod": {"topologySpreadConstraints": [_spread()]},
        "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}, "limits": {"memory": "4Gi"}},
        "additionalEnv": _first(),
    }


def _first() -> list[dict[str, Any]]:
    """The first organisation, its project with the keys that agents send by, and who may look: made once."""
    plain = {"ORG_ID": "rackwright", "PROJECT_ID": PROJECT, "USER_EMAIL": ADMINISTRATOR, "USER_NAME": "admin"}
    secret = {"PROJECT_PUBLIC_KEY": "public-key", "PROJECT_SECRET_KEY": "secret-key", "USER_PASSWORD": "admin"}
    return [
        *({"name": f"LANGFUSE_INIT_{key}", "value": value} for key, value in plain.items()),
        *(
            {"name": f"LANGFUSE_INIT_{key}", "valueFrom": {"secretKeyRef": {"name": KEYS, "key": value}}}
            for key, value in secret.items()
        ),
    ]


def _objects(storage: ObjectStorage) -> dict[str, Any]:
    return {
        "deploy": False,
        "bucket": storage.bucket,
        "region": storage.region,
        "endpoint": storage.endpoint,
        "forcePathStyle": True,  # a store of one's own has one name for all buckets
        "accessKeyId": _of("s3-access-key"),
        "secretAccessKey": _of("s3-secret-key"),
        **{what: {"prefix": f"langfuse/{what}/"} for what in ("eventUpload", "batchExport", "mediaUpload")},
    }


def _of(key: str) -> dict[str, Any]:
    return {"secretKeyRef": {"name": KEYS, "key": key}}


def _spread() -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "langfuse"}},
    }
