"""Models of which a replica takes several hosts: each of its pods is there and on a host of its own, and they meet."""

from collections.abc import Iterator

from rackwright.checks.findings import Finding, failed, whole
from rackwright.checks.objects import Object, Objects, labels_of, name_of
from rackwright.checks.policies import MODELS, end_of
from rackwright.checks.ways import is_open
from rackwright.checks.workloads import Workload, workloads
from rackwright.site.halves import Group
from rackwright.site.hosts import Phase
from rackwright.site.lws_names import SET, leader
from rackwright.site.site import Site
from rackwright.site.spans import spanning

ANY_PORT = 29501  # where they find each other; others are chosen as they come


def groups_are_whole(objects: Objects, site: Site, phase: Phase) -> Iterator[Finding]:
    """As many pods as a replica takes hosts, none of them beside another, and ways among them."""
    wanted = spanning(site) if phase == 2 else ()
    faults = [fault for group in wanted for fault in _faults(objects, group)]
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
    wanted = {leads, *(f"{leads}-{number}" for number in range(1, group.hosts))}
    there = {name_of(each): each for each in pods if name_of(each) in wanted}
    set_ = f"leaderworkerset {group.model.name}"
    see = f"kubectl -n {MODELS} describe {set_}; kubectl -n groups logs deploy/lws-controller-manager"
    for name in sorted(wanted - there.keys()):
        yield failed(f"Pod {MODELS}/{name}", f"is not there, and the replica of {leads} takes {group.hosts} hosts", see)
    nodes = [node for each in there.values() if (node := each["spec"].get("nodeName"))]
    for node in sorted({each for each in nodes if nodes.count(each) > 1}):
        what = f"holds several pods of the replica that {leads} leads, which would all go with it"
        yield failed(f"Node {node}", what, f"Delete one: kubectl -n {MODELS} delete pod NAME.")


def _shut(objects: Objects, source: Workload, target: Workload) -> Iterator[Finding]:
    if not is_open(objects, end_of(source), end_of(target), ANY_PORT):
        yield failed(source.where, f"may not call {target.where}", "Open the way among a model's pods.")
