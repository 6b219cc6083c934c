"""Services, budgets and policies: what they select must be there, and a port must lead to a port."""

from collections.abc import Iterator

from rackwright.checks.findings import Finding, failed, whole
from rackwright.checks.objects import Object, Objects, matches, namespace_of, spell
from rackwright.checks.workloads import Workload, workloads


def services_lead_to_pods(objects: Objects) -> Iterator[Finding]:
    """Every Service with a selector finds pods, and each of its ports one of theirs."""
    services = [each for each in objects.ours("Service") if each["spec"].get("selector")]
    faults = [finding for each in services for finding in _service(objects, each)]
    yield from whole(faults, "cluster", f"{len(services)} Services lead to pods and ports")


def budgets_select_pods(objects: Objects) -> Iterator[Finding]:
    """Every PodDisruptionBudget selects pods: one with a wrong label protects nothing and says nothing."""
    budgets = objects.ours("PodDisruptionBudget")
    faults = [
        failed(
            spell(each),
            f"selects no pod: {_spell_selector(each['spec'].get('selector'))}",
            "Write the labels that the pods bear.",
        )
        for each in budgets
        if not any(matches(each["spec"].get("selector"), pod.labels) for pod in workloads(objects, namespace_of(each)))
    ]
    yield from whole(faults, "cluster", f"{len(budgets)} disruption budgets select pods")


def daemons_have_nodes(objects: Objects) -> Iterator[Finding]:
    """Every DaemonSet of ours runs somewhere: on a wrong node label it is complete with no pod at all."""
    daemons = [each for each in objects.ours("DaemonSet") if not each["metadata"].get("ownerReferences")]
    faults = [
        failed(
            spell(each),
            "runs on no node: none has the labels that it asks for",
            "Compare its nodeSelector and affinity with: kubectl get nodes --show-labels",
        )
        for each in daemons
        if not (each.get("status") or {}).get("desiredNumberScheduled")
    ]
    yield from whole(faults, "cluster", f"{len(daemons)} DaemonSets have nodes to run on")


def _service(objects: Objects, service: Object) -> Iterator[Finding]:
    selector, namespace = service["spec"]["selector"], namespace_of(service)
    behind = [each for each in workloads(objects, namespace) if selector.items() <= each.labels.items()]
    if not behind:
        if not _of_a_database(service):
            yield failed(
                spell(service),
                f"selects no pod: {', '.join(f'{key}={value}' for key, value in selector.items())}",
                "Write the labels that the pods bear.",
            )
        return
    for port in service["spec"].get("ports") or []:
        for each in behind:
            if not _leads(port, each):
                target = port.get("targetPort", port["port"])
                yield failed(
                    spell(service),
                    f"port {port.get('name') or port['port']} leads to {target}, which {each.where} does not declare "
                    f"(it has {_spell_ports(each)})",
                    "Write one of those as targetPort.",
                )


def _leads(port: Object, workload: Workload) -> bool:
    """A named port must be declared; a number may be served without being declared, if nothing else is."""
    target = port.get("targetPort", port["port"])
    if isinstance(target, str):
        return any(each.get("name") == target for each in workload.ports)
    return not workload.ports or any(each["containerPort"] == target for each in workload.ports)


def _of_a_database(service: Object) -> bool:
    """Whether CloudNativePG made it: for standbys, too, of which a database may have none."""
    return any(owner["kind"] == "Cluster" for owner in service["metadata"].get("ownerReferences") or [])


def _spell_ports(workload: Workload) -> str:
    return ", ".join(f"{each.get('name', '-')}={each['containerPort']}" for each in workload.ports) or "none"


def _spell_selector(selector: Object | None) -> str:
    return (
        ", ".join(f"{key}={value}" for key, value in ((selector or {}).get("matchLabels") or {}).items()) or "nothing"
    )
