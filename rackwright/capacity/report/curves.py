"""A model's times against its load, from the steady state."""

import math
from dataclasses import dataclass

from rackwright.capacity.demand import demand
from rackwright.capacity.site_plan import ModelPlan
from rackwright.capacity.sizing import TPOT_TAIL, TTFT_TAIL
from rackwright.capacity.steady import steady

STEPS = 60
BEYOND = 1.25  # of the load that is carried, or of today's where that is more


@dataclass(frozen=True)
class At:
    """One load: calls a second of all replicas, and P95 of both times in ms; endless past a limit."""

    calls: float
    ttft_ms: float
    tpot_ms: float


def curve(plan: ModelPlan) -> list[At]:
    """From next to nothing to past what the replicas carry."""
    reach = max(plan.sized.carries if math.isfinite(plan.sized.carries) else 1.0, 1.0) * BEYOND
    return [at_load(plan, reach * step / STEPS) for step in range(1, STEPS + 1)]


def at_load(plan: ModelPlan, factor: float) -> At:
    """Times at so many times today's load."""
    asked = demand(plan.who, factor)
    found = steady(plan.timing, asked.on(plan.timing.replica, plan.sized.replicas))
    if found.limit is not None:
        return At(asked.calls, math.inf, math.inf)
    return At(asked.calls, found.ttft_ms * TTFT_TAIL, found.tpot_ms * TPOT_TAIL)
