"""Volumes find room on the drives of their purpose, on hosts that may run their pods."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rackwright.site.gpu_resources import offered, requested
from rackwright.site.hosts import Host, Purpose
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.nearest import listed
from rackwright.site.site import Site
from rackwright.site.volumes import SPARE_GB, Volume, data_hosts, data_volumes, model_volumes, room_gb


def first_server_holds_all_volumes(site: Site) -> Iterator[Broken]:
    """In phase 1 everything lies on one server."""
    servers = site.numbered_hosts_in(1, "inference") if 1 in site.phases else ()
    if len(servers) != 1:
        return
    index, host = servers[0]
    by_purpose: dict[Purpose, list[Volume]] = defaultdict(list)
    for volume in (*model_volumes(site, 1), *data_volumes(site, 1)):
        by_purpose[volume.purpose].append(volume)
    for purpose, volumes in by_purpose.items():
        wanted = sum(volume.size_gb * volume.pods for volume in volumes)
        said = listed(f"{volume.owner} {volume.size_gb}" for volume in volumes)
        if not host.disk_gb(purpose):
            what = f"have none of purpose {purpose}, and phase 1 keeps {wanted} GB there ({said})"
            yield Broken(("hosts", index, "disks"), what, f"write `purpose: {purpose}` at a drive of {host.name}")
        elif wanted > room_gb(host, purpose):
            what = (
                f"have {host.disk_gb(purpose)} GB of purpose {purpose}, {SPARE_GB} of them spare, and phase 1 asks for "
                f"{wanted} ({said})"
            )
            yield Broken(("hosts", index, "disks"), what, f"make them smaller, or give more drives to {purpose}")


def data_volumes_find_hosts(site: Site) -> Iterator[Broken]:
    """In phase 2 each copy of the data lies on a host of its own: two on one would be lost together."""
    if 2 not in site.phases or not site.hosts_in(2, "inference"):
        return  # a rack that serves nobody has a fault of its own
    hosts = data_hosts(site)
    for volume in data_volumes(site, 2):
        lacking = [host for host in hosts if room_gb(host, volume.purpose) < volume.size_gb]
        enough = len(hosts) - len(lacking)
        if enough < volume.pods:
            yield Broken(
                volume.place,
                f"asks for {volume.size_gb} GB of purpose {volume.purpose} on {volume.pods} hosts in phase 2, and "
                f"{enough} have that ({_rooms(lacking, volume.purpose)})",
                f"give drives of purpose {volume.purpose} to more hosts, ask for fewer copies, or make it smaller",
            )


def inference_hosts_hold_their_models(site: Site) -> Iterator[Broken]:
    """In phase 2 each replica has its own volume, and any host that serves may be filled with those that take most."""
    if 2 not in site.phases:
        return
    sizes = {volume.owner: volume.size_gb for volume in model_volumes(site, 2)}
    for index, host in site.numbered_servers_in(2):
        offers = offered(host.gpus, site.gpu) if host.gpus else {}
        there: list[str] = []
        for name, gpus in offers.items():
            alike = [each for each in site.groups_in(2) if requested(each.model, site.gpu) == name]
            counts = [each.serving.replicas * each.hosts + each.serving.beside for each in alike]
            wishes = [(each.served, each.part.gpus, sizes[each.served]) for each in alike]
            there += _fullest([(*wish, count) for wish, count in zip(wishes, counts, strict=True)], gpus)
        wanted = sum(sizes[name] for name in there)
        if wanted > room_gb(host, "models"):
            said = listed(f"{name} {there.count(name)} x {sizes[name]}" for name in dict.fromkeys(there))
            yield Broken(
                ("hosts", index, "disks"),
                f"have {host.disk_gb('models')} GB of purpose models, {SPARE_GB} of them spare, and replicas that may "
                f"stand there in phase 2 want {wanted} ({said}: weights twice over)",
                "give more drives to models",
            )


def _fullest(models: Sequence[tuple[str, int, int, int]], gpus: int) -> list[str]:
    """Names of the replicas, of (name, GPUs, GB, count), that fit on so many GPUs and take the most room."""
    best: list[tuple[int, list[str]]] = [(0, [])] * (gpus + 1)
    for name, each, size, count in models:
        for _ in range(min(count, gpus // each)):
            for room in range(gpus, each - 1, -1):
                before = best[room - each]
                if before[0] + size > best[room][0]:
                    best[room] = (before[0] + size, [*before[1], name])
    return best[gpus][1]


def _rooms(hosts: Sequence[Host], purpose: Purpose) -> str:
    """What each of these hosts has; without any, that every host is kept for something else."""
    rooms = [(host.name, room_gb(host, purpose)) for host in hosts]
    return listed(f"{name} {f'{room} GB' if room else 'none'}" for name, room in rooms) or "no other host takes data"
