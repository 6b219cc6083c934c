"""Tracking of training: MLflow, with its runs in PostgreSQL and what they leave in the site's object storage."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pulumi

from components.base import PART_OF, Component, Manifest, edition
from components.base.network import (
    from_peers,
    labelled_namespaces,
    names,
    pods_in,
    policy,
    to_object_storage,
    to_peers,
)
from rackwright.site.catalog import Image
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.postgresql import Database

PORT = 5000
STORES = "stores"  # the Secret that opens database and object storage
ACCESS = "rackwright/uses-mlflow"  # a namespace with this label set to "true" may reach it
LABELS = {"app.kubernetes.io/name": "mlflow"}
USER = 1000
WORKERS = 1  # of several, one that is slow to answer for five seconds is ended by the one that watches them


def arguments(name: str, storage: ObjectStorage) -> list[str]:
    """How the server is started; artefacts go through it, so that jobs need no keys of the store."""
    hosts = [f"mlflow.{name}.svc", f"mlflow.{name}.svc.cluster.local", "localhost"]
    return [
        *("--host", "0.0.0.0"),  # noqa: S104 - the pod's own address, behind a policy
        *("--port", str(PORT)),
        *("--workers", str(WORKERS)),
        *("--artifacts-destination", f"s3://{storage.bucket}/mlflow"),
        # Whatever is called by another name is refused: else a page in somebody's browser could call it by its own.
        *("--allowed-hosts", ",".join(f"{host}:*" for host in hosts)),
    ]


def variables(storage: ObjectStorage) -> dict[str, str]:
    """What the server reads beside its arguments, and nobody must keep secret."""
    return {
        "HOME": "/tmp",  # noqa: S108 - a volume of the pod's own
        "AWS_DEFAULT_REGION": storage.region,
        "MLFLOW_BOTO_CLIENT_ADDRESSING_STYLE": "path",  # a store of one's own has one name for all buckets
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_S3_ENDPOINT_URL": storage.endpoint,
    }


def database_uri(database: Database, server: Mapping[str, Any], password: str) -> str:
    """Where runs are kept, encrypted on the way."""
    where = f"{server['host']}:{server['port']}/{database.name}"
    return f"postgresql+psycopg2://{database.owner}:{quote(password, safe='')}@{where}?sslmode=require"


def deployment(name: str, storage: ObjectStorage, *, image: Image, version: Any) -> Manifest:
    """One server, replaced by stopping it first: two releases would disagree about the database's tables."""
    pod = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_server(name, storage, image)],
        "volumes": [{"name": "temporary", "emptyDir": {"sizeLimit": "20Gi"}}],  # artefacts on their way
    }
    template = {"metadata": {"labels": LABELS | PART_OF, "annotations": {"rackwright/stores": version}}, "spec": pod}
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": LABELS},
        "strategy": {"type": "Recreate"},
        "template": template,
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _named(), "spec": spec}


def service() -> Manifest:
    """What jobs call."""
    spec = {"selector": LABELS, "ports": [{"name": "http", "port": PORT, "targetPort": "http"}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": _named(), "spec": spec}


class Mlflow(Component):
    """The tracking server, which only callers and namespaces with its label may reach: it asks nobody who he is."""

    def __init__(
        self,
        name: str,
        database: Database,
        *,
        image: Image,
        object_storage: ObjectStorage,
        server: Mapping[str, Any],
        server_in: str,
        secrets: Mapping[str, pulumi.Input[str]],
        callers: Sequence[str],
        after: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        label, _, value = server["namespace_label"].partition("=")
        super().__init__(name, opts, uses={label: value})
        peers = [*(pods_in(caller) for caller in callers), labelled_namespaces(ACCESS)]
        ways_out = [names(), to_peers([pods_in(server_in)], server["port"]), to_object_storage(object_storage)]
        self.add(policy(name, ingress=[from_peers(peers, PORT)], egress=ways_out))
        password = pulumi.Output.secret(secrets[f"postgresql_{database.owner}_password"])
        given = {
            "MLFLOW_BACKEND_STORE_URI": password.apply(lambda known: database_uri(database, server, known)),
            "AWS_ACCESS_KEY_ID": secrets["s3_access_key"],
            "AWS_SECRET_ACCESS_KEY": secrets["s3_secret_key"],
        }
        opens = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": STORES}, "stringData": given}
        version = edition(*given.values())
        needed = [self.add(opens), *after]
        self.add(deployment(name, object_storage, image=image, version=version), after=needed)
        self.add(service())
        self.reached = {"address": f"http://mlflow.{name}.svc:{PORT}", "namespace_label": f"{ACCESS}=true"}
        self.register_outputs(self.reached)


def _server(name: str, storage: ObjectStorage, image: Image) -> dict[str, Any]:
    probe = {"httpGet": {"path": "/health", "port": "http", "httpHeaders": [{"name": "Host", "value": "localhost:1"}]}}
    return {
        "name": "mlflow",
        "image": image.reference,
        "command": ["mlflow", "server", *arguments(name, storage)],
        "env": [{"name": key, "value": value} for key, value in variables(storage).items()],
        "envFrom": [{"secretRef": {"name": STORES}}],
        "ports": [{"name": "http", "containerPort": PORT}],
        "startupProbe": probe
        | {"periodSeconds": 5, "failureThreshold": 60},  # it makes the tables when it first starts
        "readinessProbe": probe | {"periodSeconds": 10, "timeoutSeconds": 5},
        "livenessProbe": probe | {"periodSeconds": 20, "timeoutSeconds": 10, "failureThreshold": 6},
        "resources": {"requests": {"cpu": "500m", "memory": "3Gi"}, "limits": {"memory": "3Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "temporary", "mountPath": "/tmp"}],  # noqa: S108
    }


def _named() -> dict[str, Any]:
    return {"name": "mlflow", "labels": LABELS | PART_OF}
