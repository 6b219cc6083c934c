"""Monitors: each finds something with the port that it asks, Prometheus takes it, and is let through to it."""

from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.checks.findings import Finding, failed, not_seen, whole
from rackwright.checks.objects import Object, Objects, labels_of, matches, name_of, namespace_of, spell
from rackwright.checks.policies import end_of
from rackwright.checks.ways import End, is_open
from rackwright.checks.workloads import Workload, workloads

PODS_OF_PROMETHEUS = {"app.kubernetes.io/name": "prometheus"}
KUBELETS = {"app.kubernetes.io/name": "kubelet"}
SELECTORS = {"ServiceMonitor": "serviceMonitor", "PodMonitor": "podMonitor"}


@dataclass(frozen=True)
class Target:
    """A kind of pod that a monitor has scraped, at a port."""

    monitor: Object
    workload: Workload
    port: int


def monitors_find_targets(objects: Objects) -> Iterator[Finding]:
    """Every monitor selects something that has the port which it asks."""
    monitors = [each for kind in SELECTORS for each in objects.ours(kind)]
    faults = [finding for each in monitors for finding in _finds(objects, each)]
    yield from whole(faults, "cluster", f"{len(monitors)} monitors find what they ask")


def prometheus_takes_monitors(objects: Objects) -> Iterator[Finding]:
    """Every monitor is selected by a Prometheus; one that is not is silently left out."""
    servers = objects.all("Prometheus")
    if not servers:
        yield failed("Prometheus", "is not there, so nothing is scraped", "Run `pulumi up` again.")
        return
    monitors = [each for kind in SELECTORS for each in objects.ours(kind)]
    faults = [
        failed(
            spell(each),
            f"is selected by no Prometheus (labels: {_spell(labels_of(each))})",
            f"Give it the labels that {spell(servers[0])} selects by, or let that select everything.",
        )
        for each in monitors
        if not any(_is_taken(objects, server, each) for server in servers)
    ]
    yield from whole(faults, "cluster", f"{len(monitors)} monitors are taken by Prometheus")


def prometheus_reaches_targets(objects: Objects) -> Iterator[Finding]:
    """Network policies let Prometheus through to every target."""
    servers = objects.all("Prometheus")
    if not servers:
        return  # said above
    source = End(namespace_of(servers[0]), PODS_OF_PROMETHEUS)
    nodes = tuple(_addresses(objects))
    found = [target for kind in SELECTORS for each in objects.ours(kind) for target in targets(objects, each)]
    faults = [
        failed(
            target.workload.where,
            f"is shut to Prometheus at port {target.port}, which {spell(target.monitor)} asks",
            "Open the way in its namespace's policy and in Prometheus' own.",
        )
        for target in found
        if not is_open(objects, source, end_of(target.workload, nodes), target.port)
    ]
    yield from whole(faults, "cluster", f"the ways of Prometheus to {len(found)} kinds of targets are open")


def targets(objects: Objects, monitor: Object) -> Iterator[Target]:
    """The kinds of pods that a monitor leads to, at the ports that it asks."""
    for workload, service in _selected(objects, monitor):
        for endpoint in _endpoints(monitor):
            port = _port(endpoint, workload, service)
            if port is not None:
                yield Target(monitor, workload, port)


def _finds(objects: Objects, monitor: Object) -> Iterator[Finding]:
    where, kind = spell(monitor), "Service" if monitor["kind"] == "ServiceMonitor" else "pod"
    selector = monitor["spec"]["selector"]
    if objects.simulated and _is_for_kubelets(selector):
        yield not_seen(where, "kubelets are found by the Prometheus operator, which does not run here")
        return
    chosen = _chosen(objects, monitor)
    if not chosen:
        places = ", ".join(_namespaces(objects, monitor)) or "any namespace"
        what = f"selects no {kind} in {places}: {_spell_selector(selector)}"
        yield failed(where, what, f"Write labels that the {kind} bears.")
    for endpoint in _endpoints(monitor) if chosen else []:
        if not any(_has_port(objects, endpoint, each) for each in chosen):
            wanted = endpoint.get("port") or endpoint.get("targetPort")
            names = sorted({name for each in chosen for name in _port_names(each)})
            cure = f"Name one of {', '.join(names) or 'the ports, of which none is declared'}."
            yield failed(where, f"asks the port {wanted}, which what it selects does not have", cure)


def _chosen(objects: Objects, monitor: Object) -> list[Object | Workload]:
    """Services or kinds of pods that it selects."""
    selector, namespaces = monitor["spec"]["selector"], _namespaces(objects, monitor)
    if monitor["kind"] == "ServiceMonitor":
        services = [each for each in objects.all("Service") if namespace_of(each) in namespaces]
        return [each for each in services if matches(selector, labels_of(each))]
    pods = [each for namespace in namespaces for each in workloads(objects, namespace)]
    return [each for each in pods if matches(selector, each.labels)]


def _selected(objects: Objects, monitor: Object) -> Iterator[tuple[Workload, Object | None]]:
    for each in _chosen(objects, monitor):
        if isinstance(each, Workload):
            yield each, None
        else:
            selector = each["spec"].get("selector") or {}
            for workload in workloads(objects, namespace_of(each)) if selector else []:
                if selector.items() <= workload.labels.items():
                    yield workload, each


def _has_port(objects: Objects, endpoint: Object, chosen: Object | Workload) -> bool:
    if isinstance(chosen, Workload):
        return _port(endpoint, chosen, None) is not None
    if "port" in endpoint:
        return endpoint["port"] in _port_names(chosen)
    selector = chosen["spec"].get("selector") or {}
    behind = [each for each in workloads(objects, namespace_of(chosen)) if selector.items() <= each.labels.items()]
    return any(_port(endpoint, each, None) is not None for each in behind)


def _port_names(chosen: Object | Workload) -> list[str]:
    ports = chosen.ports if isinstance(chosen, Workload) else chosen["spec"].get("ports") or []
    return [each["name"] for each in ports if each.get("name")]


def _port(endpoint: Object, workload: Workload, service: Object | None) -> int | None:
    """The pod's own port that an endpoint ends at."""
    wanted = endpoint.get("port") or endpoint.get("targetPort")
    if service is not None and "port" in endpoint:
        through = [each for each in service["spec"].get("ports") or [] if each.get("name") == wanted]
        wanted = through[0].get("targetPort", through[0]["port"]) if through else None
    if isinstance(wanted, int):
        return wanted
    numbers = [each["containerPort"] for each in workload.ports if wanted and each.get("name") == wanted]
    return numbers[0] if numbers else None


def _endpoints(monitor: Object) -> list[Object]:
    found: list[Object] = monitor["spec"].get("endpoints") or monitor["spec"].get("podMetricsEndpoints") or []
    return found


def _namespaces(objects: Objects, monitor: Object) -> list[str]:
    selector = monitor["spec"].get("namespaceSelector") or {}
    if selector.get("any"):
        return [name_of(each) for each in objects.all("Namespace")]
    return list(selector.get("matchNames") or [namespace_of(monitor)])


def _is_taken(objects: Objects, server: Object, monitor: Object) -> bool:
    """Whether a Prometheus selects a monitor; without a selector of namespaces it looks into its own only."""
    prefix = SELECTORS[monitor["kind"]]
    spec, namespace = server["spec"], objects.get("Namespace", namespace_of(monitor))
    namespaces = spec.get(f"{prefix}NamespaceSelector")
    if namespaces is None:
        in_namespace = namespace_of(monitor) == namespace_of(server)
    else:
        in_namespace = namespace is not None and matches(namespaces, labels_of(namespace))
    return in_namespace and matches(spec.get(f"{prefix}Selector"), labels_of(monitor))


def _is_for_kubelets(selector: Object) -> bool:
    return KUBELETS.items() <= (selector.get("matchLabels") or {}).items()


def _addresses(objects: Objects) -> Iterator[str]:
    for node in objects.all("Node"):
        for address in (node.get("status") or {}).get("addresses") or []:
            if address["type"] == "InternalIP":
                yield address["address"]


def _spell(labels: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in labels.items()) or "none"


def _spell_selector(selector: Object) -> str:
    expressions = [
        f"{each['key']} {each['operator']} {', '.join(each.get('values') or [])}".rstrip()
        for each in selector.get("matchExpressions") or []
    ]
    return "; ".join(
        filter(None, [_spell(selector.get("matchLabels") or {}) if selector.get("matchLabels") else "", *expressions])
    )
