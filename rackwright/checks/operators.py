"""What operators report of their own work: GPUs driven, databases made, certificates issued."""

from collections.abc import Iterator

from rackwright.checks.findings import Finding, failed, not_seen, passed
from rackwright.checks.objects import Object, Objects, condition, name_of, namespace_of, spell
from rackwright.site.postgresql import Databases
from rackwright.site.site import Site

HEALTHY = "Cluster in healthy state"


def cluster_policy_is_ready(objects: Objects) -> Iterator[Finding]:
    """The GPU operator has everything at work on every GPU node."""
    policies = objects.all("ClusterPolicy")
    if not policies:
        yield failed(
            "ClusterPolicy", "is not there", "Run `pulumi up` again, and see: helm -n gpu-operator status gpu-operator"
        )
    for each in policies:
        state = (each.get("status") or {}).get("state", "unknown")
        yield _report(objects, each, state == "ready", f"is {state}", "the GPU operator")


def databases_are_healthy(objects: Objects, site: Site, databases: Databases = "own") -> Iterator[Finding]:
    """PostgreSQL has all its instances, and every application its database; a copy has those of whom it follows."""
    if databases == "awaited":
        yield not_seen("PostgreSQL", "comes as a copy of phase 1's, by the rollout")
        return
    if not objects.all("Cluster"):
        yield failed("Cluster", "is not there", "Run `pulumi up` again.")
    for each in objects.all("Cluster"):
        status, wanted = each.get("status") or {}, each["spec"].get("instances", 1)
        ready, state = status.get("readyInstances", 0), status.get("phase", "not looked at yet")
        well = ready == wanted and state == HEALTHY
        yield _report(objects, each, well, f"has {ready} of {wanted} instances, phase: {state}", "CloudNativePG")
    made = {each["spec"]["name"]: each for each in objects.all("Database")}
    for wished in site.postgresql.databases if databases == "own" else ():
        found = made.get(wished.name)
        if found is None:
            yield failed(f"Database {wished.name}", "was not asked for", "Run `pulumi up` again.")
            continue
        status = found.get("status") or {}
        said = f"is applied: {status.get('applied', False)} {status.get('message', '')}".rstrip()
        yield _report(objects, found, status.get("applied") is True, said, "CloudNativePG")


def monitoring_runs(objects: Objects) -> Iterator[Finding]:
    """Prometheus and Alertmanager have all their replicas."""
    for kind in ("Prometheus", "Alertmanager"):
        if not objects.all(kind):
            yield failed(kind, "is not there", "Run `pulumi up` again.")
        for each in objects.all(kind):
            available, wanted = (each.get("status") or {}).get("availableReplicas", 0), each["spec"].get("replicas", 1)
            said = f"has {available} of {wanted} replicas"
            yield _report(objects, each, available >= wanted, said, "the Prometheus operator")


def certificates_are_issued(objects: Objects) -> Iterator[Finding]:
    """Every Certificate of ours is Ready, which means that its Secret holds a key and a signed certificate."""
    certificates = objects.ours("Certificate")
    if not certificates:
        yield failed("Certificate", "is not there, so the gateway has none", "Run `pulumi up` again.")
    for each in certificates:
        ready = condition(each, "Ready")
        said = f"is ready: {ready.get('status', 'Unknown')} {ready.get('message', '')}".rstrip()
        yield _report(objects, each, ready.get("status") == "True", said, "cert-manager")


def _report(objects: Objects, each: Object, well: bool, said: str, operator: str) -> Finding:
    """Failed where it is not well; where it is, seen only if a real operator said so."""
    if not well:
        place = f"-n {namespace_of(each)} " if namespace_of(each) else ""
        return failed(spell(each), said, f"kubectl {place}describe {each['kind'].lower()} {name_of(each)}")
    if objects.simulated:
        return not_seen(spell(each), f"{said}; that was played, {operator} does not run here")
    return passed(spell(each), said)
