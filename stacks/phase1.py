"""Phase 1: one server, k3s, the whole platform."""

from typing import Any

import pulumi

from components.certificates import ISSUER, Certificates
from components.gateway import Gateway
from components.gpu_operator import GpuOperator
from components.monitoring import Monitoring
from components.postgres import Postgres
from components.qdrant import Qdrant
from components.storage import Storage
from components.vllm import Vllm
from rackwright.observe.dashboards import dashboards
from rackwright.observe.rules import groups
from rackwright.observe.sources import gpu_counters
from stacks.given import Given


def lay(given: Given) -> None:
    """Register everything; what waits for what is said by what one component is given of another."""
    site, charts, images, secrets = given.site, given.charts, given.catalog.images, given.secrets
    rest: dict[str, Any] = {"to_api": given.to_api, "opts": given.options}

    # fmt: off
    certificates = Certificates("certificates", site.name, chart=charts["cert-manager"], **rest)
    storage = Storage("storage", given.hosts, chart=charts["topolvm"], **rest)
    kept: dict[str, Any] = {"volumes": storage.installed}
    monitoring = Monitoring("monitoring", site.monitoring, chart=charts["kube-prometheus-stack"], site=site.name,
                            hosts=given.hosts, grafana_password=secrets["grafana_admin_password"],
                            groups=groups(site, 1, given.catalog, given.baseline), boards=dashboards(),
                            **kept, **rest)
    watched: dict[str, Any] = {"monitors": monitoring.installed,
                               "scrape_interval_s": site.monitoring.scrape_interval_s}
    storage.watch(**watched)
    GpuOperator("gpu-operator", site.gpu, chart=charts["gpu-operator"], hosts=given.hosts,
                counters=gpu_counters(), **watched, **rest)
    models = Vllm("models", site.models_in(1), image=images["vllm"], rclone=images["rclone"], gpu=site.gpu,
                  hosts=given.hosts, secrets=secrets, object_storage=site.object_storage, inside=given.inside,
                  callers=["gateway"], **kept, **watched, opts=given.options)
    qdrant = Qdrant("qdrant", site.vectors, chart=charts["qdrant"], spread=site.vectors.phase1,
                    api_key=secrets["qdrant_api_key"], read_only_api_key=secrets["qdrant_read_only_api_key"],
                    **kept, **watched, opts=given.options)
    postgres = Postgres("postgres", site.postgresql, chart=charts["cloudnative-pg"],
                        plugin=charts["plugin-barman-cloud"], image=images["postgresql"],
                        spread=site.postgresql.phase1, secrets=secrets, object_storage=site.object_storage,
                        archive=f"{site.name}-phase1", issuers=certificates.issuer, **kept, **watched, **rest)
    gateway = Gateway("gateway", site.gateway, image=images["envoy"], tenants=site.tenants, keys=secrets,
                      upstreams=models.upstreams, models_in=models.name, nodes=len(given.hosts), issuer=ISSUER,
                      address=site.door(1), issuers=certificates.issuer,
                      **watched, opts=given.options)
    # fmt: on
    for part in (gateway, qdrant, postgres, monitoring):
        pulumi.export(part.name, part.reached)
    pulumi.export("authority_secret", certificates.authority_secret)
