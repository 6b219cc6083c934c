"""What a phase needs beside GPUs: drives for weights, connections to PostgreSQL, memory for vectors, network."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.capacity.sizing import Sized
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

POOL = 10  # connections that each application keeps open
RESERVED = 13  # superuser's, replication's and the exporter's
VECTORS_IN_MEMORY = 1.5  # memory of a collection whose vectors and index lie in memory, by the size of its vectors
TEXT_BYTES = 4  # of a token in a request
EVENT_BYTES = 250  # of a streamed token in an answer, with its envelope


@dataclass(frozen=True)
class Need:
    """One thing that is needed, what there is of it, and how it was reckoned."""

    what: str
    needed: float
    there: float
    unit: str
    why: str

    @property
    def is_met(self) -> bool:
        """True where there is enough."""
        return self.needed <= self.there


def needs(site: Site, phase: Phase, sized: Iterable[Sized]) -> tuple[Need, ...]:
    """Everything beside GPUs."""
    sizes = list(sized)
    return (_weights(site, phase), _connections(site, sizes), _vectors(site, phase), _network(site, phase, sizes))


def _weights(site: Site, phase: Phase) -> Need:
    hosts = site.hosts_in(phase, "inference")
    groups = site.groups_in(phase)
    total = sum(each.model.volume_gib * each.serving.replicas * each.hosts for each in groups) * 2**30 / 1e9
    there = sum(host.disk_gb("models") for host in hosts)
    why = "each replica's weights twice (an update lies beside the old ones) and compiled kernels, on each of its hosts"
    return Need("drives for models", math.ceil(total), there, "GB", why)


def _connections(site: Site, sizes: list[Sized]) -> Need:
    """Little's law over actions: an action at work holds a connection to write its checkpoints."""
    workload = site.workload
    calls = workload.calls_per_action / workload.fan_out
    call_s = sum(each.state.end_to_end_ms(each.load.output) for each in sizes) / max(len(sizes), 1) / 1e3
    action_s = min(calls * call_s + max(calls - 1, 0) * workload.tool_s, 3600.0)
    at_work = workload.agents * min(1.0, workload.actions_per_hour * action_s / 3600)
    needed = math.ceil(at_work) + POOL * len(site.postgresql.databases) + RESERVED
    why = (
        f"{at_work:.0f} actions at work ({action_s:.0f} s each), {POOL} for each of the databases, {RESERVED} reserved"
    )
    return Need("connections to PostgreSQL", needed, site.postgresql.connections, "", why)


def _vectors(site: Site, phase: Phase) -> Need:
    settings = site.vectors.in_phase(phase)
    held = round(min(site.vectors.memory_gib * 2**30 / 1e9 / VECTORS_IN_MEMORY, site.vectors.size_gb))
    why = f"so much of a volume, of {settings.replicas}, stays in memory with its index; drives are read beyond"
    return Need("vectors in memory of a Qdrant node", held, site.vectors.size_gb, "GB", why)


def _network(site: Site, phase: Phase, sizes: list[Sized]) -> Need:
    calls = [(each.load, each.replicas) for each in sizes]
    bytes_ = sum(load.calls * n * (load.prompt * TEXT_BYTES + load.output * EVENT_BYTES) for load, n in calls)
    speeds = [nic.speed_gbps for host in site.hosts_in(phase, "inference") for nic in host.nics]
    why = "requests and streamed answers at the mean; moving caches between replicas is reckoned apart"
    return Need("network for requests", round(bytes_ * 8 / 1e9, 3), float(max(speeds, default=0)), "Gbit/s", why)
