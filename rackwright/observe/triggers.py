"""When to act: conditions over figures, from which alerts are written and which recorded series are judged by."""

from dataclasses import dataclass
from typing import Literal

from rackwright.observe import limits as of
from rackwright.observe.figure import Level


@dataclass(frozen=True)
class Bound:
    """What a figure is compared with: a number, a limit by its name, or another figure; times a factor."""

    number: float | None = None
    limit: str | None = None
    figure: str | None = None
    factor: float = 1.0


@dataclass(frozen=True)
class Over:
    """A figure above its bound."""

    figure: str
    bound: Bound


@dataclass(frozen=True)
class Under:
    """A figure below its bound."""

    figure: str
    bound: Bound


@dataclass(frozen=True)
class Both:
    """All of them at once."""

    parts: "tuple[Condition, ...]"


@dataclass(frozen=True)
class Either:
    """At least one of them; a part whose limit was not measured is left out."""

    parts: "tuple[Condition, ...]"


Condition = Over | Under | Both | Either
Severity = Literal["critical", "warning", "info"]


@dataclass(frozen=True)
class Trigger:
    """A condition that has held for so many seconds, and what it calls for."""

    name: str
    level: Level
    condition: Condition
    for_s: int
    severity: Severity
    summary: str  # Prometheus fills in its labels
    action: str


def _over(figure: str, number: float) -> Over:
    return Over(figure, Bound(number=number))


def _over_limit(figure: str, limit: str, factor: float = 1.0) -> Over:
    return Over(figure, Bound(limit=limit, factor=factor))


MODEL = "{{ $labels.model_name }}"
FULL_CACHE = _over("model:kv_usage", of.KV_FULL)
LONG_QUEUE = _over_limit("model:queue", "queue")
TRIGGERS = (
    Trigger(
        "GpuBusyAndBehind", "model",
        Both((_over("model:gpu_utilisation", of.GPU_BUSY), Either((LONG_QUEUE, FULL_CACHE)))),
        of.GPU_FOR, "warning",
        f"GPUs of {MODEL} are busy and calls wait, or the KV cache is full",
        "Add a replica, or take load away: utilisation alone says little, one call can show 100 %, but with a queue "
        "or a full cache the GPUs are behind.",
    ),
    Trigger(
        "QueueTooLong", "model", LONG_QUEUE, of.QUEUE_FOR, "warning",
        f"More calls wait for {MODEL} than its batches take in time",
        "Ask `rackwright advise` whether a replica is missing; look for one tenant that sends more than it used to.",
    ),
    Trigger(
        "FirstTokenOverTarget", "model",
        Either((
            _over_limit("model:ttft_p95", "ttft_p95", of.OVER), _over_limit("model:held_p95", "ttft_p95", of.OVER),
        )),
        of.LATENCY_FOR, "critical",
        f"The first token of {MODEL} comes more than 20 % later than promised (P95), in the engine or before it",
        "See the queue: if calls wait, add replicas; if they do not, prompts have grown or the cache is lost.",
    ),
    Trigger(
        "FurtherTokensOverTarget", "model", _over_limit("model:tpot_p95", "tpot_p95", of.OVER),
        of.LATENCY_FOR, "critical",
        f"Further tokens of {MODEL} come more than 20 % later than promised (P95)",
        "Batches are too large or prompts stand in their way: add replicas, or ask `rackwright advise` whether prefill "
        "apart pays.",
    ),
    Trigger(
        "CacheHitRateFalls", "model",
        Both((
            Either((
                Under("model:hit_rate", Bound(figure="model:hit_rate_usual", factor=of.HIT_RATE_KEPT)),
                Under("model:hit_rate", Bound(limit="hit_rate", factor=of.HIT_RATE_KEPT)),
            )),
            _over("model:calls", of.LEAST_CALLS),
        )),
        of.HIT_RATE_FOR, "warning",
        f"{MODEL} finds fewer prompt tokens in its cache than it used to",
        "Idle sessions no longer fit beside the running ones (more replicas, fp8 KV cache), or calls of one session go "
        "to different replicas (routing), or prompts begin with what changes.",
    ),
    Trigger(
        "FirstTokenSlowWhileGpusAreNotFull", "model",
        Both((
            Over("model:ttft_p95", Bound(figure="model:ttft_usual", factor=of.OVER)),
            _over("model:gpu_utilisation", of.GPU_MODERATE),
            Under("model:gpu_utilisation", Bound(number=of.GPU_BUSY)),
            Under("model:kv_usage", Bound(number=of.KV_FULL)),
            Under("model:queue", Bound(limit="queue")),
        )),
        of.DEGRADED_FOR, "info",
        f"The first token of {MODEL} comes later than usual while its GPUs are not full",
        "Prompts may stand in the way of answers: `rackwright advise` says whether prefill and decode apart would pay.",
    ),
    Trigger(
        "CachesDoNotMove", "model", _over("model:caches_lost", of.CACHES_LOST), of.CACHES_FOR, "warning",
        f"Replicas of {MODEL} cannot read caches out of those that computed them",
        "Each such prompt is computed twice: see what the engine's log says of NIXL and UCX, `rackwright check` for "
        "ports that are not offered, and `rdma link` on the hosts.",
    ),
    Trigger(
        "StorageNearLimit", "host", _over_limit("host:throughput", "throughput", of.NEAR), of.STORAGE_FOR, "warning",
        "Drives of {{ $labels.instance }} give nearly all that was measured of them",
        "Find who reads or writes (dashboard Storage); move it, or give it drives of its own.",
    ),
    Trigger(
        "DriveBusyAndSlow", "disk",
        Both((
            _over("disk:busy", of.DRIVE_BUSY),
            Either((_over("disk:read_time", of.DRIVE_SLOW), _over("disk:write_time", of.DRIVE_SLOW))),
        )),
        of.DRIVE_FOR, "warning",
        "{{ $labels.device }} of {{ $labels.instance }} is never idle, and requests queue at it",
        "Find who reads or writes (dashboard Storage); move it, or give it drives of its own. Fewer bytes than usual "
        "at that load: look at the drive's health and temperature (`smartctl -a`).",
    ),
    Trigger(
        "VectorSearchSlow", "store", _over_limit("store:search_p95", "search_p95"), of.SEARCH_FOR, "warning",
        "Searches in {{ $labels.pod }} take longer than promised (P95)",
        "See whether the index fits into memory and whether optimizations run; then spread shards over more nodes.",
    ),
    Trigger(
        "VectorsOutgrowMemory", "store",
        Either((
            _over_limit("store:memory", "memory", of.MEMORY_KEPT), _over_limit("store:memory_soon", "memory"),
        )),
        of.MEMORY_FOR, "warning",
        "The index of {{ $labels.pod }} is about to outgrow its memory",
        "Add a node and move shards to it, or give the node memory, before searches go to the drives.",
    ),
    Trigger(
        "VolumeNearlyFull", "volume", _over("volume:used", of.NEAR), of.VOLUME_FOR, "critical",
        "The volume {{ $labels.namespace }}/{{ $labels.persistentvolumeclaim }} is nearly full",
        "Raise its size in site.yml: volumes grow while they are in use.",
    ),
    Trigger(
        "VolumeFullSoon", "volume", Under("volume:left_soon", Bound(number=0.0)), of.SOON_FOR, "warning",
        "As it goes now, {{ $labels.namespace }}/{{ $labels.persistentvolumeclaim }} is full within three days",
        "Raise its size in site.yml, or find what has begun to fill it.",
    ),
    Trigger(
        "ConnectionsNearlyUsedUp", "database", _over("database:connections", of.CONNECTIONS_KEPT),
        of.CONNECTIONS_FOR, "warning",
        "PostgreSQL {{ $labels.pod }} has few connections left",
        "Give applications smaller pools, or raise postgresql.connections.",
    ),
    Trigger(
        "TokensNotCounted", "door", _over("door:uncounted", 0.0), of.UNCOUNTED_FOR, "warning",
        "The gateway {{ $labels.pod }} lets calls in whose tokens nobody counts",
        "See the pods of the rate limit service in the namespace gateway: until it answers, tenants have no limit of "
        "tokens; their limits of requests hold.",
    ),
)  # fmt: skip


def figures_of(condition: Condition) -> tuple[str, ...]:
    """The figures that a condition reads, each once."""
    if isinstance(condition, Both | Either):
        found = [name for part in condition.parts for name in figures_of(part)]
    else:
        found = [condition.figure, *([condition.bound.figure] if condition.bound.figure else [])]
    return tuple(dict.fromkeys(found))


def measured(condition: Condition, limits: of.Limits) -> Condition | None:
    """The condition without parts whose limit is not known; nothing where none is left to judge by."""
    if isinstance(condition, Either):
        left = tuple(part for each in condition.parts if (part := measured(each, limits)))
        return left[0] if len(left) == 1 else Either(left) if left else None
    if isinstance(condition, Both):
        parts = tuple(measured(each, limits) for each in condition.parts)
        return None if None in parts else Both(tuple(part for part in parts if part))
    return None if condition.bound.limit and not limits.knows(condition.bound.limit) else condition
