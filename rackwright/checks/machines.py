"""The machines as Kubernetes sees them: all there, ready, and offering the GPUs that the site says."""

from collections.abc import Iterator

from rackwright.checks.findings import Finding, failed, not_seen, passed
from rackwright.checks.objects import Objects, condition, labels_of, name_of
from rackwright.site.gpu_resources import offered
from rackwright.site.hosts import Host, Phase
from rackwright.site.node_marks import labels, relabelled, retainted, taints
from rackwright.site.site import Site


def nodes_are_ready(objects: Objects, site: Site, phase: Phase) -> Iterator[Finding]:
    """Every host of the phase is a node that is Ready and takes work, and no stranger is among them."""
    hosts = {host.name for host in site.hosts_in(phase)}
    for name in sorted(hosts):
        node = objects.get("Node", name)
        if node is None:
            yield failed(
                f"Node {name}",
                "is not in the cluster",
                "Let the host join the cluster, or take the phase out of its phases.",
            )
            continue
        ready = condition(node, "Ready")
        if ready.get("status") != "True":
            why = ready.get("message") or ready.get("reason") or "its kubelet said nothing yet"
            yield failed(
                f"Node {name}", f"is not ready: {why}", f"On {name}: journalctl -u k3s -u kubelet --since -15min"
            )
        elif node["spec"].get("unschedulable"):
            yield failed(f"Node {name}", "is cordoned and takes no new work", f"kubectl uncordon {name}")
        else:
            yield _seen(objects, name, "is ready", "its kubelet is played")
    for stranger in sorted({name_of(node) for node in objects.all("Node")} - hosts):
        yield failed(
            f"Node {stranger}",
            f"is no host of {site.name} in phase {phase}",
            "Add it to the site file, or take it out: kubectl delete node",
        )


def nodes_are_kept(objects: Objects, site: Site, phase: Phase) -> Iterator[Finding]:
    """Each node bears the taints of its host's roles and no others of ours, and in phase 2 the labels of its roles."""
    for host in site.hosts_in(phase):
        node = objects.get("Node", host.name)
        if node is None:
            continue  # said by the check of nodes
        lends = site.lends_gpus
        wrong = relabelled(labels(host, lends_gpus=lends), labels_of(node)) if phase == 2 else []
        wrong += retainted(taints(phase, host, lends_gpus=lends), node["spec"].get("taints") or [])
        if wrong:
            cure = "ansible-playbook playbooks/kubernetes.yml gives a node its labels and taints"
            yield failed(f"Node {host.name}", f"is not marked as its roles are: {', '.join(wrong)}", cure)
        else:
            yield _seen(objects, host.name, "bears its labels and taints", "it was declared so from the site file")


def gpus_are_allocatable(objects: Objects, site: Site, phase: Phase) -> Iterator[Finding]:
    """Each host offers its GPUs, whole or cut or shared, under the names and in the numbers of the site."""
    for host in site.hosts_in(phase):
        node = objects.get("Node", host.name)
        if node is None:
            continue  # said by the check of nodes
        wanted = offered(host.gpus, site.gpu) if host.gpus else {}
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        seen = {name: int(count) for name, count in allocatable.items() if name.startswith("nvidia.com/")}
        seen = {name: count for name, count in seen.items() if count or name in wanted}
        if seen == wanted and wanted:
            yield _seen(objects, host.name, f"offers {_spell(seen)}", "it was declared so from the site file")
        elif seen != wanted:
            yield failed(
                f"Node {host.name}", f"offers {_spell(seen)}, the site says {_spell(wanted)}", _cure(host, seen)
            )


def _seen(objects: Objects, node: str, what: str, by: str) -> Finding:
    """That all is well, where a machine says so and not whoever plays it."""
    return not_seen(f"Node {node}", f"{what}; {by}") if objects.simulated else passed(f"Node {node}", what)


def _cure(host: Host, seen: dict[str, int]) -> str:
    if not seen:
        return (
            f"See nvidia-smi on {host.name}, then the device plugin: kubectl -n gpu-operator get pods -o wide "
            "(its logs say which step waits)"
        )
    return (
        f"Compare nvidia-smi --list-gpus on {host.name} and the node's label nvidia.com/mig.config with the site file"
    )


def _spell(resources: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(resources.items())) or "no GPU"
