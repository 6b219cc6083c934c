"""The component."""

from collections.abc import Mapping
from typing import Any

import pulumi

from components.base import Chart, Component
from components.base.network import (
    Rule,
    from_anyone,
    from_peers,
    labelled_namespaces,
    names,
    neighbours,
    policy,
    scrapes,
    to_object_storage,
    to_peers,
)
from components.postgres.backups import STORE, archiving, keys, plugin_values, schedule, store
from components.postgres.objects import (
    CLUSTER,
    cluster,
    database,
    monitor,
    owners,
    password,
    secret_name,
    without_founding,
)
from rackwright.site.catalog import Image
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.postgresql import Databases, Postgresql, PostgresqlInPhase

SQL_PORT, STATUS_PORT, METRICS_PORT, WEBHOOK_PORT, PLUGIN_PORT = 5432, 8000, 9187, 9443, 9090
ACCESS = "rackwright/uses-postgres"  # a namespace with this label set to "true" may reach the server


def values(spread: PostgresqlInPhase) -> dict[str, Any]:
    """What the operator's chart is told."""
    several = spread.instances > 1
    found: dict[str, Any] = {
        "crds": {"create": True},
        "config": {"clusterWide": False},  # it rules its own namespace only
        "replicaCount": 2 if several else 1,  # who promotes a standby must not be gone with the primary's node
    }
    return found | ({"affinity": _rather_apart()} if several else {})


class Postgres(Component):
    """The operator, the server, every application's database with its owner, and backups where the site asks."""

    def __init__(
        self,
        name: str,
        postgresql: Postgresql,
        *,
        chart: Chart,
        plugin: Chart,
        image: Image,
        spread: PostgresqlInPhase,
        secrets: Mapping[str, pulumi.Input[str]],
        object_storage: ObjectStorage | None,
        archive: str,
        to_api: Rule,
        scrape_interval_s: int,
        issuers: pulumi.Resource,
        volumes: pulumi.Resource,
        monitors: pulumi.Resource,
        databases: Databases = "own",
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Where `databases` are not its own, the rollout founds the server, from `founding`, and rules whom it follows.

        The server outlives its registration: nothing that a stack is told takes it away, but who deletes it does.
        """
        super().__init__(name, opts, after=[volumes])
        self._shut(to_api)
        # Until the operator's webhook is at work, the API server refuses every cluster and database.
        operator = self.release(chart, values(spread))
        given: list[pulumi.Resource] = [
            self.add(password(owner, secrets[f"postgresql_{owner}_password"])) for owner in owners(postgresql)
        ]
        backups = object_storage and postgresql.backups
        if object_storage and backups:
            self.add(policy(STORE, egress=[to_object_storage(object_storage)], pods={"cnpg.io/cluster": CLUSTER}))
            secret = self.add(keys(object_storage, secrets["s3_access_key"], secrets["s3_secret_key"]))
            plugged = self.release(plugin, plugin_values(), after=[operator, issuers])
            given.append(self.add(store(object_storage, backups), after=[plugged, secret]))
        plugins = archiving(archive) if backups else ()
        wanted = cluster(postgresql, spread, image=image, plugins=plugins)
        self.founding = without_founding(wanted)
        if databases != "awaited":
            is_own = databases == "own"
            server = self.add(wanted if is_own else self.founding, after=[operator, *given], kept=True)
            if backups:
                self.add(schedule(backups), after=[server])
            for each in postgresql.databases if is_own else ():
                self.add(database(each), after=[server])
            self.add(monitor(scrape_interval_s), after=[monitors])
        self.reached = {
            "host": f"{CLUSTER}-rw.{name}.svc",
            "port": SQL_PORT,
            "database_secrets": {each.name: f"{name}/{secret_name(each.owner)}" for each in postgresql.databases},
            "namespace_label": f"{ACCESS}=true",
        }
        self.register_outputs(self.reached)

    def _shut(self, to_api: Rule) -> None:
        peers = [neighbours()]
        ways_in = [
            from_anyone(WEBHOOK_PORT),
            from_peers([labelled_namespaces(ACCESS)], SQL_PORT),
            from_peers(peers, SQL_PORT, STATUS_PORT, PLUGIN_PORT),  # standbys, the operator and its plugin
            scrapes(METRICS_PORT),
        ]
        ways_out = [names(), to_api, to_peers(peers, SQL_PORT, STATUS_PORT, PLUGIN_PORT)]
        self.add(policy(self.name, ingress=ways_in, egress=ways_out))


def _rather_apart() -> dict[str, Any]:
    pods = {"matchLabels": {"app.kubernetes.io/name": "cloudnative-pg"}}
    term = {"labelSelector": pods, "topologyKey": "kubernetes.io/hostname"}
    return {
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]
        }
    }
