"""Every replica finds its GPUs on a host."""

from collections import defaultdict
from collections.abc import Iterator

from rackwright.site.gpu_resources import offered, requested
from rackwright.site.halves import hosts_of_a_replica
from rackwright.site.hosts import Phase
from rackwright.site.models import Model
from rackwright.site.packing import without_room
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.nearest import listed
from rackwright.site.reading.unknown import NotKnown
from rackwright.site.site import Site


def replicas_find_enough_hosts(model: Model, place: Place, site: Site, phase: Phase) -> Iterator[Broken]:
    """GPUs that share every layer are in one host; stages may stand on several, as many on one as on another."""
    serving = model.in_phase(phase)
    rooms = _rooms(site, phase, requested(model, site.gpu))
    largest = max((room for _, room in rooms), default=0)
    if not serving.replicas or not rooms:
        return
    if model.tensor_parallel > largest:
        yield Broken(
            (*place, "tensor_parallel"),
            f"is {model.tensor_parallel}, and the inference hosts of phase {phase} have at most {largest} GPUs each",
            f"write at most {largest}",
        )
    elif hosts_of_a_replica(model, [room for _, room in rooms]) is None:
        yield Broken(
            (*place, "pipeline_parallel"),
            f"is {model.pipeline_parallel}, {model.gpus} GPUs with tensor_parallel {model.tensor_parallel}, and the "
            f"inference hosts of phase {phase} have at most {largest} each: {_why_not(model, len(rooms))}",
            f"write at most {largest // model.tensor_parallel}, or add hosts",
        )


def replicas_find_their_gpus(site: Site, phase: Phase) -> Iterator[Broken]:
    """All replicas together find their GPUs, each of them in one host, or in as many as it takes."""
    groups: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for each in site.groups_in(phase):
        part = (each.model.name, each.part.gpus)
        groups[requested(each.model, site.gpu)] += [part] * (each.serving.replicas * each.hosts)
    for resource, parts in groups.items():
        rooms = _rooms(site, phase, resource)
        largest = max((room for _, room in rooms), default=0)
        placeable = [(name, size) for name, size in parts if size <= largest]  # the others have a fault of their own
        left = without_room([size for _, size in placeable], [room for _, room in rooms])
        if left:
            yield Broken(("models",), *_shortage(phase, resource, placeable, rooms, left))


def rollouts_through_kserve_find_room(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """A Deployment of KServe's with fewer than four pods ends none before another is ready, so that one needs GPUs."""
    resource = requested(model, site.gpu)
    if 2 not in site.phases or not model.phase2.waits_for_room:
        return
    alike = [each for each in site.groups_in(2) if requested(each.model, site.gpu) == resource]
    if any(each.hosts > 1 for each in alike if each.model.name == model.name):
        return  # a fault of its own
    sizes = [each.part.gpus for each in alike for _ in range(each.serving.replicas * each.hosts)]
    rooms = [room for _, room in _rooms(site, 2, resource)]
    if not without_room(sizes, rooms) and without_room([*sizes, model.gpus], rooms):  # else a fault of its own
        yield Broken(
            (*place, "phase2", "through"),
            f"is kserve, whose rollouts of {model.phase2.replicas} replicas wait for {model.gpus} more of {resource}, "
            f"and the {sum(rooms)} that there are leave no host with that many",
            "take it out: llm-d's replicas are replaced in place; or leave one replica's GPUs free",
        )


def _why_not(model: Model, hosts: int) -> str:
    if hosts == 1:
        return "there is one host, and a replica of several takes part of each"
    return f"no equal parts of its {model.pipeline_parallel} stages find room on as many hosts"


def _shortage(
    phase: Phase, resource: str, parts: list[tuple[str, int]], rooms: list[tuple[str, int]], left: list[int]
) -> tuple[str, str]:
    asked, there = sum(size for _, size in parts), sum(room for _, room in rooms)
    counts: dict[tuple[str, int], int] = defaultdict(int)
    for part in parts:
        counts[part] += 1
    said = listed(f"{name} {count} x {size}" for (name, size), count in counts.items())
    hosts = ", ".join(f"{name} {room}" for name, room in rooms[:6])
    more = f" and {len(rooms) - 6} more hosts" if len(rooms) > 6 else ""
    what = f"ask for {asked} of {resource} in phase {phase} ({said}), and there are {there} ({hosts}{more})"
    if asked <= there:
        what += f"; however they are laid out, a replica of {max(left)} finds no host with that many left"
    return what, "take away replicas, lower tensor_parallel, or add hosts"


def _rooms(site: Site, phase: Phase, resource: str) -> list[tuple[str, int]]:
    """How many of a resource each host that serves in a phase offers; hosts without any are left out."""
    found = []
    for _, host in site.numbered_servers_in(phase):
        if host.gpus and host.gpus.mig and site.gpu.mig_strategy == "none":
            raise NotKnown  # slices that nothing offers: a fault of its own
        count = offered(host.gpus, site.gpu).get(resource, 0) if host.gpus else 0
        found += [(host.name, count)] if count else []
    return found
