"""Memory and processor of one host suffice for what must run on it."""

from collections.abc import Iterator

from rackwright.site.hosts import Phase
from rackwright.site.models import Model
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.nearest import listed
from rackwright.site.site import Site
from rackwright.site.volumes import data_hosts, data_volumes

# What runs beside the wished-for: the system and the kubelet 4 GiB, Prometheus 4 (its request), operators, exporters,
# Grafana and the gateway 4; of processor threads 2, 1 and 3.
PLATFORM_GIB = 12
PLATFORM_CORES = 6
WHOLE_SHARE = 0.985  # of the memory, after firmware and kernel


def first_server_has_the_memory(site: Site) -> Iterator[Broken]:
    """Everything of phase 1 is held in one server's memory."""
    models = {f"{model.name} {each.replicas} x": (model.memory_gib, each.replicas) for model, each in site.models_in(1)}
    rest = {
        "vectors": (site.vectors.memory_gib, site.vectors.phase1.replicas),
        "postgresql": (site.postgresql.memory_gib, site.postgresql.phase1.instances),
        "the platform": (PLATFORM_GIB, 1),
    }
    yield from _first_server(site, "memory_gib", "GiB", WHOLE_SHARE, models | rest)


def first_server_has_the_cores(site: Site) -> Iterator[Broken]:
    """Pods are only placed while their requests fit into the threads."""
    models = {f"{model.name} {each.replicas} x": (model.cores, each.replicas) for model, each in site.models_in(1)}
    rest = {
        "vectors": (site.vectors.cores, site.vectors.phase1.replicas),
        "postgresql": (site.postgresql.cores, site.postgresql.phase1.instances),
        "the platform": (PLATFORM_CORES, 1),
    }
    yield from _first_server(site, "cores", "threads", 1, models | rest)


def replicas_fit_into_the_memory(model: Model, place: Place, site: Site, phase: Phase) -> Iterator[Broken]:
    """A replica is a pod of one host, or one of each that it takes, its shared memory included."""
    serving = model.in_phase(phase)
    hosts = site.numbered_servers_in(phase) if serving.replicas else ()
    largest = max((host.memory_gib for _, host in hosts), default=None)
    if largest is None:
        return
    pod = next(each.part for each in site.groups_in(phase) if each.model.name == model.name)
    if pod.memory_gib > largest * WHOLE_SHARE:
        yield Broken(
            (*place, "shared_memory_gib"),
            f"is {pod.shm_gib}, a pod of {pod.memory_gib} GiB, and the inference hosts of phase {phase} have at "
            f"most {largest}",
            f"leave it out ({pod.gpus + 1})",
        )


def data_pods_find_hosts(site: Site) -> Iterator[Broken]:
    """In phase 2 each copy of the data runs on a host of its own, which has the memory and the threads for it."""
    if 2 not in site.phases:
        return
    for volume in data_volumes(site, 2):
        owner, count = volume.owner, volume.pods
        if not hasattr(getattr(site, owner), "memory_gib"):
            continue
        workers = [host for host in data_hosts(site) if host.disk_gb(volume.purpose)]
        for key, share in (("memory_gib", WHOLE_SHARE), ("cores", 1)):
            wanted = getattr(getattr(site, owner), key)
            rooms = sorted((getattr(host, key) for host in workers), reverse=True)
            if len(rooms) >= count and wanted > rooms[count - 1] * share:
                yield Broken(
                    (owner, key),
                    f"is {wanted} for each of {count} in phase 2, each on a host of its own, and the hosts have "
                    f"{', '.join(str(room) for room in rooms[:count])}",
                    f"write at most {int(rooms[count - 1] * share)}",
                )


def _first_server(
    site: Site, key: str, unit: str, share: float, wanted: dict[str, tuple[int, int]]
) -> Iterator[Broken]:
    servers = site.numbered_hosts_in(1, "inference") if 1 in site.phases else ()
    if len(servers) != 1:
        return
    index, host = servers[0]
    there = int(getattr(host, key) * share)
    asked = sum(each * count for each, count in wanted.values())
    if asked > there:
        said = listed(f"{owner} {each}" for owner, (each, _) in wanted.items())
        yield Broken(
            ("hosts", index, key),
            f"is {getattr(host, key)}, of which {there} {unit} can be given out, and phase 1 asks for {asked} ({said})",
            "ask for less, or serve less on this host",
        )
