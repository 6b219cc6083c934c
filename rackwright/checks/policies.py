"""Network policies: everything is shut, names in them are real, and the ways that the platform needs are open."""

from collections.abc import Iterator

from rackwright.checks.findings import Finding, failed, whole
from rackwright.checks.objects import Object, Objects, name_of, spell
from rackwright.checks.ways import End, is_open, is_shut
from rackwright.checks.workloads import Workload, workloads
from rackwright.site import kserve_names
from rackwright.site.hosts import Phase
from rackwright.site.models import Model
from rackwright.site.serving import Serving
from rackwright.site.site import Site

BY_NAME = "kubernetes.io/metadata.name"
GATEWAY = "gateway"
MODELS = "models"
ENGINES = {1: "Deployment", 2: "StatefulSet"}  # the kind of our own engines by phase


def namespaces_are_shut(objects: Objects) -> Iterator[Finding]:
    """Every namespace of ours denies by default what comes in and what goes out."""
    faults = [
        failed(
            f"Namespace {name}", f"is open: {' and '.join(missing)} is not denied by default", "Run `pulumi up` again."
        )
        for name in sorted(objects.our_namespaces)
        if (missing := [each for each in ("Ingress", "Egress") if each not in is_shut(objects, name)])
    ]
    yield from whole(faults, "cluster", f"{len(objects.our_namespaces)} namespaces deny by default")


def peers_are_real(objects: Objects) -> Iterator[Finding]:
    """A namespace that a policy names exists; else the way that it opens leads nowhere."""
    faults = []
    for policy in objects.ours("NetworkPolicy"):
        for peer in _peers(policy["spec"]):
            name = ((peer.get("namespaceSelector") or {}).get("matchLabels") or {}).get(BY_NAME)
            if name and objects.get("Namespace", name) is None:
                faults.append(
                    failed(spell(policy), f"opens a way to namespace {name}, which is not there", "Name it right.")
                )
    yield from whole(faults, "cluster", f"{len(objects.ours('NetworkPolicy'))} policies name real namespaces")


def gateway_reaches_models(objects: Objects, site: Site, phase: Phase) -> Iterator[Finding]:
    """The gateway's pods may call every served model at the port that it listens at."""
    gateways = [each for each in workloads(objects, GATEWAY) if each.object["kind"] == "Deployment"]
    served = {engines(model, serving, phase) for model, serving in site.models_in(phase)}
    models = [each for each in workloads(objects, MODELS) if _named(each) in served]
    faults = [
        failed(
            gateway.where, f"may not call {model.where} at port {port}", "Open the way in both namespaces' policies."
        )
        for gateway in gateways
        for model in models
        for port in {each["containerPort"] for each in model.ports if each.get("name") == "http"}
        if not is_open(objects, end_of(gateway), end_of(model), port)
    ]
    if not gateways:
        faults.append(failed("Namespace gateway", "has no Deployment", "Run `pulumi up` again."))
    missing = served - {_named(each) for each in models}
    faults += [
        failed(f"{kind} {MODELS}/{name}", "is not there", "Run `pulumi up` again.") for kind, name in sorted(missing)
    ]
    yield from whole(faults, "gateway", f"may call {len(models)} models")


def engines(model: Model, serving: Serving, phase: Phase) -> tuple[str, str]:
    """The kind and name of a model's engines."""
    if serving.through == "kserve":
        return "Deployment", kserve_names.engines(model.name)
    return ENGINES[phase], model.name


def _named(workload: Workload) -> tuple[str, str]:
    return workload.object["kind"], name_of(workload.object)


def end_of(workload: Workload, addresses: tuple[str, ...] = ()) -> End:
    """A kind of pod as one end of a connection."""
    on_host = bool(workload.spec.get("hostNetwork"))
    return End(workload.namespace, workload.labels, addresses, tuple(workload.ports), on_host)


def _peers(spec: Object) -> Iterator[Object]:
    for direction, key in (("ingress", "from"), ("egress", "to")):
        for rule in spec.get(direction) or []:
            yield from rule.get(key) or []
