"""Models whose prompts are computed apart: both halves are there, and the one may come to the other."""

from collections.abc import Iterator

from rackwright.checks.findings import Finding, failed, not_seen, passed, whole
from rackwright.checks.objects import Objects, name_of, spell
from rackwright.checks.policies import MODELS, end_of
from rackwright.checks.ways import is_open
from rackwright.checks.workloads import workloads
from rackwright.site.halves import groups
from rackwright.site.hosts import Phase
from rackwright.site.rdma_ports import RESOURCE, rdma_ports
from rackwright.site.site import Site
from rackwright.site.spans import users_of_rdma


def halves_meet(objects: Objects, site: Site, phase: Phase) -> Iterator[Finding]:
    """Replicas that answer may ask those that compute, and learn of their memory."""
    divided = _divided(site, phase)
    there = {name_of(each.object): each for each in workloads(objects, MODELS) if each.object["kind"] == "StatefulSet"}
    faults = []
    for answering, computing in divided:
        missing = [name for name in (answering, computing) if name not in there]
        faults += [failed(f"StatefulSet {MODELS}/{name}", "is not there", "Run `pulumi up` again.") for name in missing]
        for port in there[computing].ports if not missing else []:
            source, target = there[answering], there[computing]
            if not is_open(objects, end_of(source), end_of(target), port["containerPort"]):
                what = f"may not call {target.where} at port {port['containerPort']}"
                faults.append(failed(source.where, what, "Open the way in the policies of both halves."))
    yield from whole(faults, "models", f"{len(divided)} models have halves that meet")


def rdma_ports_are_allocatable(objects: Objects, site: Site, phase: Phase) -> Iterator[Finding]:
    """Hosts that serve offer the ports by which caches and stages move; without them a replica waits for ever."""
    if phase == 1 or not users_of_rdma(site):
        yield passed("nodes", "nothing moves between them by RDMA")
        return
    hosts = [host for _, host in site.numbered_servers_in(phase) if rdma_ports(host)]
    faults = [
        failed(
            spell(node),
            f"offers no {RESOURCE}",
            "See `kubectl -n rdma logs daemonset/rdma-ports`, and on the host `ls /dev/infiniband` and `rdma link`.",
        )
        for host in hosts
        if (node := objects.get("Node", host.name)) is not None
        and not int((node.get("status") or {}).get("allocatable", {}).get(RESOURCE, 0))
    ]
    said = f"{len(hosts)} offer ports for RDMA"
    if objects.simulated and not faults:
        yield not_seen("nodes", f"{said}; it was declared so from the site file")
        return
    yield from whole(faults, "nodes", said)


def _divided(site: Site, phase: Phase) -> list[tuple[str, str]]:
    """Names of both halves of each divided model, those that answer first."""
    found = [groups(model, serving) for model, serving in site.models_in(phase) if phase == 2]
    return [(each[0].model.name, each[1].model.name) for each in found if len(each) == 2]
