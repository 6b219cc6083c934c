"""Pickers: each is asked by the gateway and sees its engines, whoever made it; and what KServe says of its own."""

from collections.abc import Iterator

from rackwright.checks.findings import Finding, failed, not_seen, passed, whole
from rackwright.checks.objects import Object, Objects, condition, name_of, namespace_of, spell
from rackwright.checks.policies import GATEWAY, MODELS, end_of, engines
from rackwright.checks.ways import is_open
from rackwright.checks.workloads import Workload, workloads
from rackwright.site import kserve_names
from rackwright.site.halves import groups
from rackwright.site.hosts import Phase
from rackwright.site.models import Model
from rackwright.site.serving import Serving
from rackwright.site.site import Site

ROUTER = "router"
# Without a Gateway of the API's of that name it never calls a pool ready, and so neither the whole service.
SAID = ("PresetsCombined", "WorkloadsReady", "SchedulerWorkloadReady")


def pickers_are_reached(objects: Objects, site: Site, phase: Phase) -> Iterator[Finding]:
    """The gateway may ask every model's picker, and the picker may read its engines."""
    if phase == 1:
        yield passed("gateway", "asks no picker in phase 1")
        return
    there = {_key(each): each for space in (GATEWAY, MODELS, ROUTER) for each in workloads(objects, space)}
    gateways = [each for each in there.values() if each.namespace == GATEWAY and each.object["kind"] == "Deployment"]
    faults, seen = [], 0
    for model, serving in site.models_in(2):
        picker = there.get(_picker(model, serving))
        if picker is None:
            kind, space, name = _picker(model, serving)
            faults.append(failed(f"{kind} {space}/{name}", "is not there", "Run `pulumi up` again."))
            continue
        seen += 1
        kind, name = engines(model, serving, phase)
        names = dict.fromkeys((name, *(each.model.name for each in groups(model, serving) if each.half)))
        ways = [(each, picker, "grpc") for each in gateways]
        ways += [(picker, there[key], "http") for key in ((kind, MODELS, each) for each in names) if key in there]
        faults += [fault for source, target, port in ways for fault in _shut(objects, source, target, port)]
    yield from whole(faults, "gateway", f"{seen} pickers are asked, and read their engines")


def services_are_laid(objects: Objects, site: Site, phase: Phase) -> Iterator[Finding]:
    """KServe has taken every model that the site gives to it, and made its pods."""
    wanted = {model.name for model, serving in site.models_in(phase) if serving.through == "kserve"}
    there = {name_of(each): each for each in objects.ours("LLMInferenceService")}
    if not wanted and not there:
        yield passed("KServe", "is given no model")
    for name in sorted(wanted - there.keys()):
        yield failed(f"LLMInferenceService {MODELS}/{name}", "is not there", "Run `pulumi up` again.")
    for name in sorted(there.keys() - wanted):
        yield failed(spell(there[name]), "is there, and the site gives KServe no such model", "Run `pulumi up` again.")
    for name in sorted(wanted & there.keys()):
        yield _said(objects, there[name])


def _said(objects: Objects, service: Object) -> Finding:
    found = {kind: condition(service, kind) for kind in SAID}
    bad = [kind for kind, said in found.items() if said.get("status") != "True"]
    if objects.simulated and bad == ["WorkloadsReady", "SchedulerWorkloadReady"]:
        return not_seen(spell(service), "was taken; that was played, KServe does not run here")
    if bad:
        why = "; ".join(f"{kind}: {found[kind].get('message') or found[kind].get('status', 'Unknown')}" for kind in bad)
        cure = f"kubectl -n {namespace_of(service)} describe llminferenceservice {name_of(service)}"
        return failed(spell(service), f"is not laid out: {why}", cure)
    return passed(spell(service), "its engines and its picker are ready")


def _shut(objects: Objects, source: Workload, target: Workload, port: str) -> Iterator[Finding]:
    for number in {each["containerPort"] for each in target.ports if each.get("name") == port}:
        if not is_open(objects, end_of(source), end_of(target), number):
            what = f"may not call {target.where} at port {number}"
            yield failed(source.where, what, "Open the way in both namespaces' policies.")


def _picker(model: Model, serving: Serving) -> tuple[str, str, str]:
    if serving.through == "kserve":
        return "Deployment", MODELS, kserve_names.picker(model.name)
    return "StatefulSet", ROUTER, model.name


def _key(workload: Workload) -> tuple[str, str, str]:
    return workload.object["kind"], workload.namespace, name_of(workload.object)
