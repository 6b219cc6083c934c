"""The pictures of one model in one phase."""

import math
from collections.abc import Sequence

from rackwright.capacity.calls import CHAT
from rackwright.capacity.compare import Way
from rackwright.capacity.demand import calls_of
from rackwright.capacity.deployment import Deployment
from rackwright.capacity.report.charts import Line, Plot, bar, columns, plot, scatter
from rackwright.capacity.report.curves import at_load, curve
from rackwright.capacity.site_plan import ModelPlan
from rackwright.capacity.sizing import TPOT_ERROR, TTFT_ERROR
from rackwright.site.site import Site

MOST_NAMES = 14  # of ways in one picture


def times(site: Site, plan: ModelPlan) -> tuple[str, str]:
    """Both times against load, with the range of the reckoning, the target, today's load and where it gives way."""
    reached, now = curve(plan), at_load(plan, 1.0)
    first = _times(
        "P95 of the first token, ms", plan, [(at.calls, at.ttft_ms) for at in reached],
        site.targets.ttft_p95_ms, TTFT_ERROR, (now.calls, now.ttft_ms), 1,
    )  # fmt: skip
    further = _times(
        "P95 of a further token, ms", plan, [(at.calls, at.tpot_ms) for at in reached],
        site.targets.tpot_p95_ms, TPOT_ERROR, (now.calls, now.tpot_ms), 2,
    )  # fmt: skip
    return first, further


def _times(
    title: str,
    plan: ModelPlan,
    points: Sequence[tuple[float, float]],
    target: float,
    error: float,
    now: tuple[float, float],
    tone: int,
) -> str:
    ends = [(x, y) for x, y in points if math.isfinite(y)]
    highest = max(target * 1.5, min(max((y for _, y in ends), default=target) * 1.2, target * 3))
    band = [(x, y * (1 - error), y * (1 + error)) for x, y in ends]
    carried = now[0] * plan.sized.carries
    limits = [
        (carried, f"up to {carried:.3g} calls/s, then {plan.sized.gives_way}"),
        (now[0], f"load {now[0]:.3g} calls/s"),
    ]
    wanted = Plot(
        title,
        "calls a second, all replicas",
        title,
        [Line(f"reckoned, and the range of nine in ten (± {error:.0%})", tone, ends, band)],
        limits,
        [(target, f"target {target:g} ms")],
        now if math.isfinite(now[1]) else None,
        highest=highest,
        farthest=points[-1][0],
    )
    return plot(wanted)


def memory(plan: ModelPlan) -> str:
    """What one GPU's memory goes to."""
    held = plan.replica.memory
    parts = [
        ("weights", held.weights, 1),
        ("activation", held.activation, 2),
        ("other than torch", held.non_torch, 3),
        ("CUDA graphs", held.graphs, 4),
        ("KV cache", max(held.pool, 0.0), 5),
    ]
    left = held.usable - sum(value for _, value, _ in parts)
    return bar(
        f"Memory of a GPU of {plan.model.name}", held.usable, "GiB", [*parts, ("left to others", max(left, 0.0), 0)]
    )


def frontier(ways: Sequence[Way]) -> str:
    """GPUs that the load needs against the time of a further token; the frontier is joined."""
    shown = sorted(ways, key=lambda way: (not way.on_frontier, way.gpus, way.sized.state.tpot_ms))[:MOST_NAMES]
    points = [
        (
            float(way.gpus),
            way.sized.state.tpot_ms,
            name_of(way.replica),
            way.on_frontier,
        )
        for way in shown
    ]
    return scatter("Ways to serve it", "GPUs that the load needs", "further token, ms (mean)", points)


def name_of(replica: Deployment) -> str:
    """A way to serve a model, in few letters."""
    return f"{replica.tensor_parallel} x {replica.hardware.name} {replica.stored_precision}"


def calls(site: Site) -> str:
    """Calls of an agent's action."""
    spread = calls_of(site.workload)
    shares = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
    values = [(f"P{share * 100:.0f}", spread.quantile(share)) for share in shares]
    kind = "one call" if spread is CHAT else site.workload.pattern
    return columns(f"Calls of an agent's action ({kind}, mean {spread.mean:.1f})", "share of actions", "calls", values)
