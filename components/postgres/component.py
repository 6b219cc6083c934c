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
    to_peers,
)
from components.postgres.objects import CLUSTER, cluster, database, monitor, owners, password, secret_name
from rackwright.site.catalog import Image
from rackwright.site.postgresql import Postgresql, PostgresqlInPhase

SQL_PORT, STATUS_PORT, METRICS_PORT, WEBHOOK_PORT = 5432, 8000, 9187, 9443
ACCESS = "rackwright/uses-postgres"  # a namespace with this label set to "true" may reach the server


def values() -> dict[str, Any]:
    """What the operator's chart is told."""
    return {"crds": {"create": True}, "config": {"clusterWide": False}}  # it rules its own namespace only


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
        volumes: pulumi.Resource,
        monitors: pulumi.Resource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts, after=[volumes])
        self._shut(to_api)
        # Until the operator's webhook is at work, the API server refuses every cluster and database.
        operator = self.release(chart, values())
        given = [self.add(password(owner, secrets[f"postgresql_{owner}_password"])) for owner in owners(postgresql)]
        server = self.add(cluster(postgresql, spread, image=image), after=[operator, *given])
        for wanted in postgresql.databases:
            self.add(database(wanted), after=[server])
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
            from_peers(peers, SQL_PORT, STATUS_PORT),  # standbys and the operator
            scrapes(METRICS_PORT),
        ]
        ways_out = [names(), to_api, to_peers(peers, SQL_PORT, STATUS_PORT)]
        self.add(policy(self.name, ingress=ways_in, egress=ways_out))
