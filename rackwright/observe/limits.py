"""What a figure is held against: the site's targets, what was measured, and constants that stand once.

Alerts and triggers in code read the same `Limits`, so they cannot differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rackwright.observe.baseline import Baseline
from rackwright.observe.sources import NODE_PORT
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

GPU_BUSY, GPU_MODERATE = 0.8, 0.3  # of the time; between them a GPU is used and not full
KV_FULL = 0.9  # of the cache: beyond, calls wait for room or are put back
QUEUE_SHARE = 0.25  # of a batch, where no measurement has fitted the threshold
OVER = 1.2  # times a target, or what is usual
HIT_RATE_KEPT = 0.7  # of what is usual, below which the cache has lost something
CACHES_LOST = 0.01  # a second: one in 100 s is no replica that was replaced
LEAST_CALLS = 0.1  # a second, below which rates of a model say nothing
NEAR = 0.85  # of a measured limit, of a volume
DRIVE_BUSY = 0.9  # of the time; says little alone: NVMe drives take many requests at once
DRIVE_SLOW = 0.005  # seconds a request takes on average; NVMe drives need 0.02 to 0.2 ms until requests queue
MEMORY_KEPT = 0.8  # of the vector store's memory: beyond, the time of a search is about to bend
CONNECTIONS_KEPT = 0.8
GPU_FOR, QUEUE_FOR, LATENCY_FOR = 300, 60, 300  # seconds for which it must hold
CACHES_FOR = 300
HIT_RATE_FOR, STORAGE_FOR, SEARCH_FOR, MEMORY_FOR = 900, 300, 300, 900
VOLUME_FOR, SOON_FOR, CONNECTIONS_FOR, DEGRADED_FOR, ABSENT_FOR = 600, 3600, 300, 900, 300
DRIVE_FOR, UNCOUNTED_FOR = 600, 300


@dataclass(frozen=True)
class Limits:
    """Limits by name: one for everybody, or one by subject; a name that is missing was not measured."""

    same: Mapping[str, float] = field(default_factory=dict)
    each: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def of(self, name: str, subject: str) -> float | None:
        """The limit of a subject."""
        found = self.each.get(name, {}).get(subject)
        return self.same.get(name) if found is None else found

    def knows(self, name: str) -> bool:
        """Whether there is such a limit for anybody."""
        return name in self.same or bool(self.each.get(name))


def limits(site: Site, phase: Phase, baseline: Baseline | None = None) -> Limits:
    """The limits of a site's phase."""
    measured = baseline or Baseline()
    same = {
        "ttft_p95": site.targets.ttft_p95_ms / 1e3,
        "tpot_p95": site.targets.tpot_p95_ms / 1e3,
        "search_p95": site.targets.qdrant_p95_ms / 1e3,
        "memory": site.vectors.memory_gib * 2.0**30,
    }
    served = {each.model.name: each.model.sequences * each.serving.replicas for each in site.groups_in(phase)}
    queue = {name: max(1.0, QUEUE_SHARE * places) for name, places in served.items()} | {
        each.model: each.queue for each in measured.models if each.queue is not None
    }
    hit_rate = {each.model: each.hit_rate for each in measured.models if each.hit_rate is not None}
    storage = {
        f"{host.address}:{NODE_PORT}": measured.storage[host.name]
        for host in site.hosts_in(phase)
        if host.name in measured.storage
    }
    kept = {name: value for name, value in queue.items() if name in served}
    return Limits(same, {"queue": kept, "hit_rate": hit_rate, "throughput": storage})
