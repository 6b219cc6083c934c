"""A plan for people and as data: ranges, the reason of what is uncertain, the flags that it assumes."""

import math
from typing import Any

from rackwright.capacity.calls import PATTERNS
from rackwright.capacity.disaggregation import Apart
from rackwright.capacity.feasibility import assumed, assumed_text, remarks
from rackwright.capacity.needs import Need
from rackwright.capacity.simulation import KINDS, tails
from rackwright.capacity.site_plan import ModelPlan, PhasePlan
from rackwright.capacity.sizing import HEADROOM, POOL_ERROR, TPOT_ERROR, TTFT_ERROR, range_of
from rackwright.capacity.tables import number, table
from rackwright.site.site import Site

RANGES = (
    "Ranges: nine of ten runs on models and GPUs that the constants were not fitted on stayed within "
    f"{TTFT_ERROR:.0%} of the first token and {TPOT_ERROR:.0%} of further ones; the cache's size is within "
    f"{POOL_ERROR:.0%}."
)
LEAST_CERTAIN = (
    "Least certain: lengths of prompts and answers, calls of an action, and how much of a prompt the cache still has."
)
UNCERTAIN = (RANGES, LEAST_CERTAIN)


def plan_data(site: Site, phases: tuple[PhasePlan, ...]) -> dict[str, Any]:
    """The whole plan as plain data."""
    workload = site.workload
    return {
        "site": site.name,
        "workload": workload.model_dump(mode="json"),
        "chat_sessions": _chat_sessions(workload.agents),
        "targets": site.targets.model_dump(mode="json"),
        "phases": [_phase_data(each) for each in phases],
        "uncertain": list(UNCERTAIN),
    }


def _chat_sessions(agents: int) -> dict[str, int]:
    """Chat sessions that agents weigh like: from the short actions of ReAct to the long ones of planners."""
    least, most = PATTERNS["react"].quantile(0.1), PATTERNS["planner"].quantile(0.9)
    return {"least": round(agents * least), "most": round(agents * most)}


def _phase_data(each: PhasePlan) -> dict[str, Any]:
    return {
        "phase": each.phase,
        "gpus": each.gpus,
        "gpus_needed": each.gpus_needed,
        "is_carried": all(plan.sized.carries >= 1 for plan in each.models),
        "models": [_model_data(plan) for plan in each.models],
        "needs": [vars(need) | {"is_met": need.is_met} for need in each.needs],
    }


def _model_data(plan: ModelPlan) -> dict[str, Any]:
    sized, state, replica = plan.sized, plan.sized.state, plan.replica
    return {
        "model": plan.model.name,
        "gpu": replica.hardware.name,
        "gpus_per_replica": replica.gpus,
        "replicas": sized.replicas,
        "replicas_needed": sized.needed,
        "carries": _finite(sized.carries),
        "gives_way": sized.gives_way,
        "calls_per_second": sized.load.calls * sized.replicas,
        "load_of_a_replica": {
            "calls_per_second": sized.load.calls,
            "prompt_tokens": sized.load.prompt,
            "cached_tokens": sized.load.cached,
            "output_tokens": sized.load.output,
        },
        "steady": {
            "limit": state.limit,
            "ttft_ms": _range(state.ttft_ms, TTFT_ERROR),
            "tpot_ms": _range(state.tpot_ms, TPOT_ERROR),
            "end_to_end_ms": _finite(state.end_to_end_ms(sized.load.output)),
            "sequences": _finite(state.sequences),
            "prefill_share": state.prefill_share,
            "cache_share": state.cache_share,
        },
        "memory_gib": {name: round(value, 2) for name, value in vars(replica.memory).items()},
        "kv_cache_tokens": replica.log_tokens,
        "tails": {name: tails(plan.hour, kind) for name, kind in KINDS.items()} if plan.hour else None,
        "apart": [_plain(each) for each in plan.divided],
        "wished": _plain(plan.wished) if plan.wished else None,
        "assumed": assumed(replica),
        "remarks": remarks(replica),
    }


def _plain(each: Apart) -> dict[str, Any]:
    return {name: _finite(value) if isinstance(value, float) else value for name, value in vars(each).items()}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _range(value: float, error: float) -> dict[str, float | None]:
    low, high = range_of(value, error)
    return {"low": _finite(low), "mean": _finite(value), "high": _finite(high)}


def plan_text(site: Site, phases: tuple[PhasePlan, ...]) -> str:
    """The plan for a terminal."""
    workload, chats = site.workload, _chat_sessions(site.workload.agents)
    who = f"{workload.users} users and {workload.agents} agents, {workload.actions_per_hour:g} actions an hour each"
    lines = [f"{site.name}: {who}, {workload.calls_per_action:g} calls an agent's action ({workload.pattern})."]
    if workload.agents:
        weigh = f"{chats['least']:,} to {chats['most']:,} chat sessions"
        lines.append(f"The agents weigh like {weigh} (ReAct's P10, planners' P90 of calls).")
    for each in phases:
        lines += ["", _phase_text(each)]
    return "\n".join([*lines, "", *UNCERTAIN])


def _phase_text(each: PhasePlan) -> str:
    needed = "more than any number" if each.gpus_needed is None else str(each.gpus_needed)
    title = f"Phase {each.phase}: {each.gpus} GPUs; with {1 - HEADROOM:.0%} headroom the load needs {needed}."
    models = table(
        ("model", "replicas", "needed", "calls/s", "TTFT ms", "TPOT ms", "at once", "cache used", "carries"),
        [_model_row(plan) for plan in each.models],
    )
    lines = [title, "", models, ""]
    lines += [f"  {plan.model.name}: {_gives_way(plan)}" for plan in each.models]
    for plan in each.models:
        notes = (
            f"assumes {assumed_text(plan.replica)}",
            *remarks(plan.replica),
            *_hosts(plan),
            *_hour(plan),
            *_divided(plan),
        )
        lines += [f"  {plan.model.name}: {note}" for note in notes]
    return "\n".join([*lines, "", *(_need(need) for need in each.needs)])


def _model_row(plan: ModelPlan) -> tuple[object, ...]:
    sized, state = plan.sized, plan.sized.state
    return (
        f"{plan.model.name} ({plan.replica.gpus} x {plan.replica.hardware.name})",
        sized.replicas,
        sized.needed or "-",
        number(sized.load.calls * sized.replicas),
        _ranged(state.ttft_ms, TTFT_ERROR),
        _ranged(state.tpot_ms, TPOT_ERROR),
        number(state.sequences * sized.replicas),
        f"{min(state.cache_share, 9.99):.0%}",
        f"{min(sized.carries, 9999):.2g}x",
    )


def _ranged(value: float, error: float) -> str:
    low, high = range_of(value, error)
    return "no end" if math.isinf(value) else f"{number(low)} - {number(high)}"


def _gives_way(plan: ModelPlan) -> str:
    sized = plan.sized
    if sized.needed == 0:
        return f"no number of replicas meets the targets: {sized.gives_way} is missed by a call alone"
    if sized.carries >= 1:
        return f"carries {sized.carries:.2g} times this load; then {sized.gives_way} gives way first"
    return f"does not carry this load: {sized.gives_way} gives way at {sized.carries:.0%} of it"


def _hosts(plan: ModelPlan) -> list[str]:
    found = plan.between
    if found is None:
        return []
    over = f"{'RDMA' if found.by_rdma else 'TCP'}, {found.gbps} Gbit/s"
    computed = (
        f"a replica takes {found.hosts} hosts, which compute {found.computed_per_s:,.0f} tokens of prompts a second"
    )
    handed_on = f"and hand on {found.handed_on_per_s:,.0f} ({over}); what a step waits for that is not reckoned"
    return [f"{computed} {handed_on}"]


def _hour(plan: ModelPlan) -> list[str]:
    if plan.hour is None:
        return []
    found = []
    for name, kind in KINDS.items():
        figures = tails(plan.hour, kind)
        if figures["calls"] and figures["actions"]:
            parts = ((title, figures[key]) for title, key in TAILS)
            watched = f"{name}, {plan.hour.until_ms / 60_000:.0f} minutes simulated: "
            found.append(watched + "; ".join(_quantiles(title, part) for title, part in parts if part))
    return found


TAILS = (("TTFT", "ttft_ms"), ("TPOT", "tpot_ms"), ("call", "end_to_end_ms"), ("action", "action_ms"))


def _quantiles(title: str, part: dict[str, float]) -> str:
    return f"{title} P50 {number(part['p50'])}, P95 {number(part['p95'])}, P99 {number(part['p99'])} ms"


def _divided(plan: ModelPlan) -> list[str]:
    if plan.wished is not None:
        speed = f"{plan.wished.network_gbps:g} GbE"
        return [f"prefill and decode apart, as the site has it, on {speed}: {_apart(plan.wished)}"]
    return [f"prefill and decode apart on {each.network_gbps:g} GbE: {_apart(each)}" for each in plan.divided]


def _apart(each: Apart) -> str:
    split = f" ({each.prefill} and {each.decode} replicas)" if each.prefill else ""
    return f"{'pays' if each.pays else 'does not pay'}{split}: {each.why}"


def _need(need: Need) -> str:
    mark = "enough" if need.is_met else "SHORT"
    return f"  {need.what}: {need.needed:g} of {need.there:g} {need.unit}".rstrip() + f" ({mark}); {need.why}"
