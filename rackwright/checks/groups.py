"""Models of which a replica takes several hosts: each of its pods is there and on a host of its own, and they meet.

Those that follow are deleted with the one that leads, whenever their group is made anew as when it is taken away; so
the controller cannot tell the one from the other, and their claims are kept in both. Who is left over is told here.
"""

from collections.abc import Iterator, Sequence

from rackwright.checks.findings import Finding, failed, whole
from rackwright.checks.objects import Object, Objects, labels_of, name_of, spell
from rackwright.checks.policies import MODELS, end_of
from rackwright.checks.ways import is_open
from rackwright.checks.workloads import Workload, workloads
from rackwright.site.halves import Group
from rackwright.site.hosts import Phase
from rackwright.site.lws_names import SET, leader
from rackwright.site.site import Site
from rackwright.site.spans import spanning

ANY_PORT = 29501  # where they find each other; others are chosen as they come
CLAIMED = "models-"  # a pod's claim is named for the volume, and then for the pod


def groups_are_whole(objects: Objects, site: Site, phase: Phase) -> Iterator[Finding]:
    """As many pods as a replica takes hosts, none beside another, ways among them, and no volume of one that left."""
    wanted = spanning(site) if phase == 2 else ()
    faults = [fault for group in wanted for fault in _faults(objects, group)]
    faults += _left_over(objects, wanted)
    yield from whole(faults, "models", f"{sum(each.serving.replicas for each in wanted)} replicas take several hosts")


def _faults(objects: Objects, group: Group) -> Iterator[Finding]:
    name = group.model.name
    if objects.get("LeaderWorkerSet", name, MODELS) is None:
        yield failed(f"LeaderWorkerSet {MODELS}/{name}", "is not there", "Run `pulumi up` again.")
        return
    pods = [each for each in objects.all("Pod", MODELS) if labels_of(each).get(SET) == name]
    for number in range(group.serving.replicas):
        yield from _replica(group, leader(name, number), pods)
    there = {name_of(each.object): each for each in workloads(objects, MODELS) if each.object["kind"] == "StatefulSet"}
    leads, follows = there.get(name), there.get(leader(name, 0))
    if leads and follows:
        yield from _shut(objects, leads, follows)
        yield from _shut(objects, follows, leads)


def _replica(group: Group, leads: str, pods: list[Object]) -> Iterator[Finding]:
    wanted = _members(group, leads)
    there = {name_of(each): each for each in pods if name_of(each) in wanted}
    set_ = f"leaderworkerset {group.model.name}"
    see = f"kubectl -n {MODELS} describe {set_}; kubectl -n groups logs deploy/lws-controller-manager"
    for name in sorted(wanted - there.keys()):
        yield failed(f"Pod {MODELS}/{name}", f"is not there, and the replica of {leads} takes {group.hosts} hosts", see)
    nodes = [node for each in there.values() if (node := each["spec"].get("nodeName"))]
    for node in sorted({each for each in nodes if nodes.count(each) > 1}):
        what = f"holds several pods of the replica that {leads} leads, which would all go with it"
        yield failed(f"Node {node}", what, f"Delete one: kubectl -n {MODELS} delete pod NAME.")


def _members(group: Group, leads: str) -> set[str]:
    return {leads, *(f"{leads}-{number}" for number in range(1, group.hosts))}


def _left_over(objects: Objects, wanted: Sequence[Group]) -> Iterator[Finding]:
    """Claims of pods that no group has any more, once nothing mounts them."""
    members = {
        name
        for group in wanted
        for number in range(group.serving.replicas)
        for name in _members(group, leader(group.model.name, number))
    }
    mounted = {
        (volume.get("persistentVolumeClaim") or {}).get("claimName")
        for pod in objects.all("Pod", MODELS)
        for volume in pod["spec"].get("volumes") or []
    }
    for claim in objects.all("PersistentVolumeClaim", MODELS):
        name = name_of(claim)
        if SET in labels_of(claim) and name.removeprefix(CLAIMED) not in members and name not in mounted:
            what = "keeps a model's weights on a drive for a replica that is not there any more"
            yield failed(spell(claim), what, f"kubectl -n {MODELS} delete pvc {name}")


def _shut(objects: Objects, source: Workload, target: Workload) -> Iterator[Finding]:
    if not is_open(objects, end_of(source), end_of(target), ANY_PORT):
        yield failed(source.where, f"may not call {target.where}", "Open the way among a model's pods.")
