"""What the components tell each chart for a site, for whoever compares that with upstream."""

from typing import Any

from components import certificates, gpu_operator, kserve, leader_worker_sets, monitoring, qdrant, storage
from components.langfuse.values import values as langfuse_values
from components.postgres import backups
from components.postgres import component as postgres
from rackwright.site.catalog import Catalog
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.postgresql import Database
from rackwright.site.site import Site

DATABASE = Database(name="langfuse", owner="langfuse")
STORAGE = ObjectStorage(endpoint="https://s3.lab.internal", bucket="rackwright")


def told(site: Site) -> dict[str, dict[str, Any]]:
    """Values by chart."""
    hosts, interval = site.hosts_in(1), site.monitoring.scrape_interval_s
    return {
        "cert-manager": certificates.values("certificates"),
        "topolvm": storage.values(hosts),
        "gpu-operator": gpu_operator.values(site.gpu, hosts, interval, "DCGM_X, gauge, X\n", phase=1),
        "cloudnative-pg": postgres.values(site.postgresql.phase1),
        "langfuse": langfuse_values("langfuse", DATABASE, STORAGE, {"host": "postgres-rw.postgres.svc", "port": 5432}),
        "plugin-barman-cloud": backups.plugin_values(),
        "qdrant": qdrant.values(site.vectors, site.vectors.phase1, interval),
        "kube-prometheus-stack": monitoring.values(site.monitoring, site=site.name),
        "lws": leader_worker_sets.values(Catalog.load().images["lws-controller"]),
        "kserve-llmisvc-crd": {},
        "kserve-llmisvc-resources": kserve.values(),
    }
