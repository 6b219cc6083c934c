"""How much a number of replicas carries, what gives way first, and how many a load needs."""

import math
from dataclasses import dataclass

from rackwright.capacity.demand import Demand, demand
from rackwright.capacity.population import Population
from rackwright.capacity.steady import Load, Steady, steady
from rackwright.capacity.timing import Timing
from rackwright.errors import Refusal
from rackwright.site.workload import Targets

HEADROOM = 0.8  # of what a replica carries at its targets: room for a burst, and for one that restarts
TTFT_TAIL, TPOT_TAIL = 2.5, 1.2  # a 95th percentile by its mean, as the simulation finds them (docs/capacity.md)
MOST_REPLICAS = 4096
TTFT_ERROR, TPOT_ERROR, POOL_ERROR = 0.35, 0.16, 0.04  # P90 of errors on rows held out, and of the cache's size


@dataclass(frozen=True)
class Sized:
    """One model's replicas under its load."""

    replicas: int
    load: Load
    state: Steady
    carries: float  # times the load that they answer within targets
    gives_way: str  # what no longer holds beyond that
    needed: int  # replicas that carry the load with headroom; 0 where no number does


def size(timing: Timing, who: Population, targets: Targets, replicas: int) -> Sized:
    """Judge so many replicas for a population."""
    asked = demand(who)
    if asked.calls <= 0:
        raise Refusal("The workload has no users and no agents.", "State users or agents.")
    load = asked.on(timing.replica, replicas)
    carries, gives_way = _carried(timing, who, targets, replicas)
    return Sized(replicas, load, steady(timing, load), carries, gives_way, needed(timing, asked, targets))


def _carried(timing: Timing, who: Population, targets: Targets, replicas: int) -> tuple[float, str]:
    """How many times the load these replicas answer within targets, and what breaks beyond."""
    low, high = 0.0, 1.0
    while _broken(timing, demand(who, high), targets, replicas) is None and high < 1e6:
        low, high = high, high * 2
    for _ in range(24):
        middle = (low + high) / 2
        held = _broken(timing, demand(who, middle), targets, replicas) is None
        low, high = (middle, high) if held else (low, middle)
    return low, _broken(timing, demand(who, high), targets, replicas) or "nothing"


def _broken(timing: Timing, asked: Demand, targets: Targets, replicas: int) -> str | None:
    found = steady(timing, asked.on(timing.replica, replicas))
    if found.limit == "prompts":
        return "time for prompts"
    if found.limit == "cache":
        return "the KV cache"
    if found.limit == "sequences":
        return "sequences at once (max-num-seqs)"
    if found.ttft_ms * TTFT_TAIL > targets.ttft_p95_ms:
        return "the first token's target"
    return "the target of further tokens" if found.tpot_ms * TPOT_TAIL > targets.tpot_p95_ms else None


def needed(timing: Timing, asked: Demand, targets: Targets) -> int:
    """The fewest replicas that carry the load with headroom."""
    stressed = Demand(
        asked.users_calls / HEADROOM,
        asked.agents_calls / HEADROOM,
        asked.prompt,
        asked.output,
        asked.users_new,
        asked.agents_new,
        asked.sessions,
    )
    if _broken(timing, stressed, targets, MOST_REPLICAS) is not None:
        return 0
    low, high = 0, 1
    while _broken(timing, stressed, targets, high) is not None:
        low, high = high, min(high * 2, MOST_REPLICAS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _broken(timing, stressed, targets, middle) is not None else (low, middle)
    return high


def range_of(value: float, error: float) -> tuple[float, float]:
    """A figure with the error that nine of ten figures on unseen models and GPUs stayed within."""
    if math.isinf(value):
        return value, value
    return value * (1 - error), value * (1 + error)
