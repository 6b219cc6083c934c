"""All checks after a deployment, on whichever cluster: what one cannot see, it says."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rackwright.checks.access import Access
from rackwright.checks.containers import images_are_pinned, probes_ask_ports
from rackwright.checks.copies import backup_references, backups_are_made, copies_lie_apart
from rackwright.checks.custom_references import (
    access_references,
    certificate_references,
    database_references,
    monitor_references,
)
from rackwright.checks.findings import Checked, Finding, Outcome
from rackwright.checks.gateway import gateway_serves_tenants
from rackwright.checks.groups import groups_are_whole
from rackwright.checks.halves import halves_meet, rdma_ports_are_allocatable
from rackwright.checks.machines import gpus_are_allocatable, nodes_are_kept, nodes_are_ready
from rackwright.checks.monitors import monitors_find_targets, prometheus_reaches_targets, prometheus_takes_monitors
from rackwright.checks.objects import Objects
from rackwright.checks.operators import (
    certificates_are_issued,
    cluster_policy_is_ready,
    databases_are_healthy,
    monitoring_runs,
)
from rackwright.checks.pickers import pickers_are_reached, services_are_laid
from rackwright.checks.pod_references import claim_references, pod_references
from rackwright.checks.policies import gateway_reaches_models, namespaces_are_shut, peers_are_real
from rackwright.checks.readiness import pods_are_ready
from rackwright.checks.references import look_up
from rackwright.checks.scraped import every_part_is_scraped, targets_are_up
from rackwright.checks.services import budgets_select_pods, daemons_have_nodes, services_lead_to_pods
from rackwright.checks.volumes import claims_are_bound, data_lies_on_its_drives, drives_hold_the_volumes
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.postgresql import Databases
from rackwright.site.site import Site

REFERENCES = (
    pod_references,
    claim_references,
    certificate_references,
    database_references,
    backup_references,
    monitor_references,
    access_references,
)


@dataclass(frozen=True)
class Ground:
    """What checks look at: a cluster as it is, a site as it is wished."""

    objects: Objects
    access: Access
    site: Site
    phase: Phase
    catalog: Catalog
    tenant_keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    databases: Databases = "own"


class Check(NamedTuple):
    """A question, and how it is answered."""

    name: str
    question: str
    look: Callable[[Ground], Iterator[Finding]]


CHECKS = (
    Check("nodes", "Is every host a ready node?", lambda on: nodes_are_ready(on.objects, on.site, on.phase)),
    Check("marks", "Is every node kept for its roles?", lambda on: nodes_are_kept(on.objects, on.site, on.phase)),
    Check("pods", "Is every pod ready?", lambda on: pods_are_ready(on.objects)),
    Check("daemons", "Does every DaemonSet run somewhere?", lambda on: daemons_have_nodes(on.objects)),
    Check("gpus", "Is every GPU allocatable?", lambda on: gpus_are_allocatable(on.objects, on.site, on.phase)),
    Check("ports", "May pods use RDMA?", lambda on: rdma_ports_are_allocatable(on.objects, on.site, on.phase)),
    Check("gpu operator", "Is the GPU operator done?", lambda on: cluster_policy_is_ready(on.objects)),
    Check(
        "databases", "Are the databases healthy?", lambda on: databases_are_healthy(on.objects, on.site, on.databases)
    ),
    Check("monitoring", "Do Prometheus and Alertmanager run?", lambda on: monitoring_runs(on.objects)),
    Check("certificates", "Is every certificate issued?", lambda on: certificates_are_issued(on.objects)),
    Check("claims", "Is every claim bound?", lambda on: claims_are_bound(on.objects)),
    Check("classes", "Does data lie on its drives?", lambda on: data_lies_on_its_drives(on.objects, on.site)),
    Check("room", "Do the drives hold the volumes?", lambda on: drives_hold_the_volumes(on.objects, on.site, on.phase)),
    Check("copies", "Do copies of data lie apart?", lambda on: copies_lie_apart(on.objects)),
    Check("backups", "Are backups made?", lambda on: backups_are_made(on.objects, on.site, databases=on.databases)),
    Check("references", "Is everything there that objects name?", lambda on: look_up(on.objects, REFERENCES)),
    Check("services", "Does every Service lead to pods?", lambda on: services_lead_to_pods(on.objects)),
    Check("budgets", "Does every disruption budget select pods?", lambda on: budgets_select_pods(on.objects)),
    Check("images", "Is every image pinned?", lambda on: images_are_pinned(on.objects, on.catalog)),
    Check("probes", "Does every probe ask a port that is there?", lambda on: probes_ask_ports(on.objects)),
    Check("default deny", "Is every namespace shut by default?", lambda on: namespaces_are_shut(on.objects)),
    Check("peers", "Do policies name real namespaces?", lambda on: peers_are_real(on.objects)),
    Check("way", "May the gateway call the models?", lambda on: gateway_reaches_models(on.objects, on.site, on.phase)),
    Check("pickers", "May pickers be asked?", lambda on: pickers_are_reached(on.objects, on.site, on.phase)),
    Check("halves", "Do halves of a model meet?", lambda on: halves_meet(on.objects, on.site, on.phase)),
    Check(
        "groups", "Is every replica on several hosts whole?", lambda on: groups_are_whole(on.objects, on.site, on.phase)
    ),
    Check("kserve", "Has KServe taken its models?", lambda on: services_are_laid(on.objects, on.site, on.phase)),
    Check("monitors", "Does every monitor find its target?", lambda on: monitors_find_targets(on.objects)),
    Check("taken", "Does Prometheus take every monitor?", lambda on: prometheus_takes_monitors(on.objects)),
    Check("reached", "May Prometheus call every target?", lambda on: prometheus_reaches_targets(on.objects)),
    Check("scraped", "Is every part scraped?", lambda on: every_part_is_scraped(on.objects)),
    Check("targets", "Is every target up?", lambda on: targets_are_up(on.objects, on.access)),
    Check(
        "completion",
        "Does every model answer tenants, and them only?",
        lambda on: gateway_serves_tenants(on.objects, on.access, on.site, on.phase, on.tenant_keys),
    ),
)


@dataclass(frozen=True)
class Verdict:
    """All checks with what they found."""

    checks: tuple[Checked, ...]

    @property
    def succeeded(self) -> bool:
        """True where nothing failed; what was not seen is no failure, and is said."""
        return all(each.outcome is not Outcome.FAILED for each in self.checks)

    def text(self) -> str:
        """The verdict for people."""
        lines = [line for each in self.checks for line in each.lines()]
        return "\n".join([*lines, "", self.summary()])

    def summary(self) -> str:
        """One line: how many passed, failed and were not seen."""
        count = {outcome: sum(each.outcome is outcome for each in self.checks) for outcome in Outcome}
        return ", ".join(f"{count[outcome]} {outcome.value}" for outcome in Outcome)

    def as_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {"succeeded": self.succeeded, "checks": [each.as_json() for each in self.checks]}


def run(ground: Ground) -> Verdict:
    """Every check, one after the other; none changes anything."""
    return Verdict(tuple(Checked(each.name, each.question, tuple(each.look(ground))) for each in CHECKS))
