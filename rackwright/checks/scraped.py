"""What must be scraped, and on a live cluster whether it is."""

import json
from collections import Counter
from collections.abc import Iterator

from rackwright.checks.access import Access
from rackwright.checks.findings import Finding, failed, not_seen, passed, whole
from rackwright.checks.monitors import SELECTORS, targets
from rackwright.checks.objects import Objects, name_of, namespace_of, spell
from rackwright.checks.workloads import Workload, our_workloads
from rackwright.site.lws_names import INDEX, SET

# By namespace: what of it must be scraped, by the kind of its maker.
SCRAPED = {
    "models": {"Deployment", "StatefulSet"},
    "router": {"StatefulSet"},
    "gateway": {"Deployment"},
    "qdrant": {"StatefulSet"},
    "postgres": {"Pod"},
    "monitoring": {"DaemonSet"},
}
GPU_METRICS = "nvidia-dcgm-exporter"


def every_part_is_scraped(objects: Objects) -> Iterator[Finding]:
    """Models, gateway, vector store, databases and machines each have a monitor that leads to them."""
    covered = {
        target.workload.where for kind in SELECTORS for each in objects.ours(kind) for target in targets(objects, each)
    }
    parts = [each for each in our_workloads(objects) if _must_be_scraped(each)]
    faults = [
        failed(each.where, "is scraped by no monitor", "Give it a monitor that selects its labels and a named port.")
        for each in parts
        if each.where not in covered
    ]
    yield from whole(faults, "cluster", f"{len(parts)} parts are scraped")
    yield from _gpus(objects)


def _must_be_scraped(each: Workload) -> bool:
    kind = each.object["kind"]
    if SET in each.labels and INDEX not in each.labels:
        return False  # pods that follow another have neither port nor figures
    return kind in SCRAPED.get(each.namespace, set()) and (kind != "Pod" or "cnpg.io/cluster" in each.labels)


def _gpus(objects: Objects) -> Iterator[Finding]:
    """The exporter of GPU metrics and its monitor are made by the GPU operator."""
    found = [each for each in objects.all("ServiceMonitor") if name_of(each) == GPU_METRICS]
    if found and objects.simulated:
        yield not_seen(spell(found[0]), "is there; that was played, the GPU operator does not run here")
    elif found:
        yield passed(spell(found[0]), "is there")
    elif objects.simulated:
        yield not_seen("GPU metrics", "the GPU operator makes their exporter and monitor, and does not run here")
    else:
        cure = "See ClusterPolicy's dcgmExporter, and: kubectl -n gpu-operator get pods"
        yield failed("GPU metrics", "have no monitor: the GPU operator has not made it", cure)


def targets_are_up(objects: Objects, access: Access) -> Iterator[Finding]:
    """Prometheus itself says that every target answers, and that every monitor has one."""
    servers = objects.all("Prometheus")
    if objects.simulated or not servers:
        yield not_seen("Prometheus", "it does not run here, so no target was scraped")
        return
    namespace, port = namespace_of(servers[0]), servers[0]["spec"].get("portName", "web")
    path = f"/api/v1/namespaces/{namespace}/services/prometheus-operated:{port}/proxy/api/v1/targets?state=active"
    active = json.loads(access.raw(path))["data"]["activeTargets"]
    pools = Counter("/".join(target["scrapePool"].split("/")[:3]) for target in active)
    faults = [
        failed(
            f"Target {target['scrapeUrl']}",
            f"is {target['health']}: {target.get('lastError') or 'not scraped yet'}",
            f"It belongs to {target['scrapePool']}: see its pod, its port and the network policies between.",
        )
        for target in active
        if target["health"] != "up"
    ]
    for kind in SELECTORS:
        for each in objects.ours(kind):
            if not pools[f"{kind[0].lower()}{kind[1:]}/{namespace_of(each)}/{name_of(each)}"]:
                faults.append(failed(spell(each), "has no target in Prometheus", "See what it selects."))
    yield from whole(faults, "Prometheus", f"{len(active)} targets are up")
