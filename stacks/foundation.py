"""What both phases stand on: certificates, volumes, monitoring, GPUs and data."""

from dataclasses import dataclass
from typing import Any

from components.certificates import Certificates
from components.gpu_operator import GpuOperator
from components.monitoring import Monitoring
from components.postgres import Postgres
from components.qdrant import Qdrant
from components.storage import Storage
from rackwright.observe.dashboards import dashboards
from rackwright.observe.rules import groups
from rackwright.observe.sources import gpu_counters
from rackwright.rollout.qdrant.switch import application_key
from stacks.given import Given


@dataclass(frozen=True)
class Foundation:
    """What is there, and by keyword what its users are given of it: `kept` of volumes, `watched` of monitoring."""

    certificates: Certificates
    monitoring: Monitoring
    qdrant: Qdrant
    postgres: Postgres
    kept: dict[str, Any]
    watched: dict[str, Any]


def found(given: Given) -> Foundation:
    """Register it; what waits for what is said by what one component is given of another."""
    site, phase, charts, secrets = given.site, given.phase, given.charts, given.secrets
    rest: dict[str, Any] = {"to_api": given.to_api, "opts": given.options}

    # fmt: off
    certificate, key = given.authority
    certificates = Certificates("certificates", certificate=certificate, key=key, chart=charts["cert-manager"], **rest)
    storage = Storage("storage", given.hosts, chart=charts["topolvm"], **rest)
    kept: dict[str, Any] = {"volumes": storage.installed}
    monitoring = Monitoring("monitoring", site.monitoring, chart=charts["kube-prometheus-stack"], site=site.name,
                            hosts=given.hosts, grafana_password=secrets["grafana_admin_password"],
                            groups=groups(site, phase, given.catalog, given.baseline), boards=dashboards(),
                            **kept, **rest)
    watched: dict[str, Any] = {"monitors": monitoring.installed,
                               "scrape_interval_s": site.monitoring.scrape_interval_s}
    storage.watch(**watched)
    GpuOperator("gpu-operator", site.gpu, chart=charts["gpu-operator"], hosts=given.hosts,
                counters=gpu_counters(), phase=phase, **watched, **rest)
    qdrant = Qdrant("qdrant", site.vectors, chart=charts["qdrant"], spread=site.vectors.in_phase(phase),
                    api_key=secrets["qdrant_api_key"], read_only_api_key=secrets["qdrant_read_only_api_key"],
                    application_key=secrets["qdrant_api_key"].apply(application_key),
                    **kept, **watched, opts=given.options)
    postgres = Postgres("postgres", site.postgresql, chart=charts["cloudnative-pg"],
                        plugin=charts["plugin-barman-cloud"], image=given.catalog.images["postgresql"],
                        spread=site.postgresql.in_phase(phase), secrets=secrets, object_storage=site.object_storage,
                        archive=f"{site.name}-phase{phase}", issuers=certificates.issuer, databases=given.databases,
                        **kept, **watched, **rest)
    # fmt: on
    return Foundation(certificates, monitoring, qdrant, postgres, kept, watched)
