"""The component."""

import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Any

import pulumi

from components.base import Chart, Component, edition
from components.base.network import (
    from_peers,
    labelled_namespaces,
    names,
    neighbours,
    pods_in,
    policy,
    to_object_storage,
    to_peers,
)
from components.langfuse.stores import (
    CLICKHOUSE,
    CLICKHOUSE_NATIVE_PORT,
    CLICKHOUSE_PORT,
    KEYS,
    VALKEY,
    VALKEY_PORT,
    clickhouse,
    configuration,
    services,
    valkey,
)
from components.langfuse.values import PORT, values
from rackwright.site.catalog import Image
from rackwright.site.langfuse import Langfuse as Settings
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.postgresql import Database

ACCESS = "rackwright/uses-langfuse"  # a namespace with this label set to "true" may send traces
DERIVED = ("salt", "encryption-key", "nextauth", CLICKHOUSE, VALKEY)


def derived(purpose: str, key: str) -> str:
    """A value of its own for each purpose, of 64 hexadecimal digits, which Langfuse wants of its encryption key."""
    return hashlib.sha256(f"{purpose}\0{key}".encode()).hexdigest()


class Langfuse(Component):
    """Langfuse with its stores, its first project and that project's keys."""

    def __init__(
        self,
        name: str,
        langfuse: Settings,
        database: Database,
        *,
        chart: Chart,
        images: Mapping[str, Image],
        object_storage: ObjectStorage,
        server: Mapping[str, Any],
        server_in: str,
        secrets: Mapping[str, pulumi.Input[str]],
        volumes: pulumi.Resource,
        after: list[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        label, _, value = server["namespace_label"].partition("=")
        super().__init__(name, opts, uses={label: value}, after=[volumes])
        stores = (CLICKHOUSE_PORT, CLICKHOUSE_NATIVE_PORT, VALKEY_PORT)
        ways_in = [from_peers([labelled_namespaces(ACCESS)], PORT), from_peers([neighbours()], *stores)]
        ways_out = [
            names(),
            to_peers([neighbours()], *stores),
            to_peers([pods_in(server_in)], server["port"]),
            to_object_storage(object_storage),
        ]
        self.add(policy(name, ingress=ways_in, egress=ways_out))
        given = _given(secrets, database)
        version = edition(*given.values())
        metadata = {"name": KEYS}
        keys = self.add({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": given})
        needed = [keys, self.add(configuration())]
        made = [
            self.add(clickhouse(langfuse, image=images["clickhouse"], version=version), after=needed),
            self.add(valkey(langfuse, image=images["valkey"], version=version), after=needed),
            *(self.add(service, wait=False) for service in services()),
        ]
        told = values(name, database, object_storage, server)
        told["langfuse"]["pod"]["annotations"] = {"rackwright/keys": version}
        self.release(chart, told, after=[*made, *after])
        self.reached = {
            "address": f"http://langfuse-web.{name}.svc:{PORT}",
            "secret": f"{name}/{KEYS}",
            "namespace_label": f"{ACCESS}=true",
        }
        self.register_outputs(self.reached)


def _given(secrets: Mapping[str, pulumi.Input[str]], database: Database) -> dict[str, pulumi.Input[str]]:
    key = pulumi.Output.secret(secrets["langfuse_key"])
    return {
        **{purpose: key.apply(partial(derived, purpose)) for purpose in DERIVED},
        "postgresql": secrets[f"postgresql_{database.owner}_password"],
        "s3-access-key": secrets["s3_access_key"],
        "s3-secret-key": secrets["s3_secret_key"],
        "admin": secrets["langfuse_admin_password"],
        "public-key": key.apply(lambda known: f"pk-lf-{derived('public key', known)[:32]}"),
        "secret-key": key.apply(lambda known: f"sk-lf-{derived('secret key', known)[:48]}"),
    }
