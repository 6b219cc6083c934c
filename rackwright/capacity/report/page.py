"""The page: what the plan says, in the order in which somebody asks."""

import math
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from rackwright.capacity.compare import Out, Way
from rackwright.capacity.feasibility import assumed_text, remarks
from rackwright.capacity.plan_text import UNCERTAIN
from rackwright.capacity.report import pictures
from rackwright.capacity.report.style import STYLE
from rackwright.capacity.simulation import KINDS, tails
from rackwright.capacity.site_plan import ModelPlan, PhasePlan, ways_for
from rackwright.capacity.sizing import HEADROOM, TPOT_ERROR, TTFT_ERROR, range_of
from rackwright.capacity.tables import number
from rackwright.errors import Refusal
from rackwright.site.site import Site

FOOTER = (
    "<footer>Reckoned by <code>rackwright plan</code>; formulas, constants and their errors on measurements that were "
    "held out are in docs/capacity.md. P95 is 2.5 times the mean of the first token and 1.2 times that of further "
    "ones, as the simulation finds them.</footer>"
)
MODELS = (
    "model", "replicas", "needed", "calls/s", "first token, ms", "further token, ms", "cache used", "carries",
    "gives way first",
)  # fmt: skip
PAYS = {True: "pays", False: "does not pay"}
TIMES = {
    "ttft_ms": "first token",
    "tpot_ms": "further token",
    "end_to_end_ms": "whole call",
    "action_ms": "whole action",
}


def write(site: Site, phases: Sequence[PhasePlan], file: Path) -> None:
    """Write the page; Refusal where the file cannot be written."""
    try:
        file.write_text(page(site, phases), encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{file} cannot be written ({error.strerror}).", "Name another file.") from None


def page(site: Site, phases: Sequence[PhasePlan]) -> str:
    """The whole page."""
    name = escape(site.name)
    body = [
        f"<header><h1>{name}: what it carries</h1>{_workload(site)}</header>",
        *(_phase(site, each, is_first=index == 0) for index, each in enumerate(phases)),
        f"<h2>What agents ask for</h2><div class='pictures'>{_figure(_calls_words(site), pictures.calls(site))}</div>",
        f"<h2>Ways to serve each model</h2>{_ways(site, phases)}",
        f"<h2>How far this may be trusted</h2>{_notes(UNCERTAIN)}",
        FOOTER,
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><title>Capacity of {name}</title><style>{STYLE}</style></head>'
        f"<body>{''.join(body)}</body></html>\n"
    )


def _workload(site: Site) -> str:
    load, goals = site.workload, site.targets
    return (
        f"<p>{load.users:,} people and {load.agents:,} agents, {load.actions_per_hour:g} actions an hour each, "
        f"{load.calls_per_action:g} calls an agent's action; {load.prompt_tokens:,} tokens in and "
        f"{load.output_tokens:,} out at the median call.</p>"
        f"<p class='soft'>Promised: first token within {goals.ttft_p95_ms:g} ms, a further one within"
        f"  {goals.tpot_p95_ms:g} ms (P95).</p>"
    )


def _phase(site: Site, each: PhasePlan, *, is_first: bool) -> str:
    carries = min((plan.sized.carries for plan in each.models), default=0.0)
    needed = "none" if each.gpus_needed is None else str(each.gpus_needed)
    short = [need for need in each.needs if not need.is_met]
    cards = [
        (str(each.gpus), "GPUs there are"),
        (needed, f"GPUs that the load needs, with {1 - HEADROOM:.0%} headroom"),
        (
            f"{min(carries, 9999):.2g} x",
            "today's load is carried" if carries >= 1 else "today's load: it is NOT carried",
        ),
        (str(len(short)) if short else "nothing", "is short beside GPUs"),
    ]
    shown = "".join(f"<div class='card'><b>{escape(big)}</b><span>{escape(small)}</span></div>" for big, small in cards)
    models = "".join(_model(site, plan) for plan in each.models)
    return (
        f"<h2 class='phase{' first' if is_first else ''}'>Phase {each.phase}</h2><div class='cards'>{shown}</div>"
        f"{_models(each.models)}{models}<h3>Beside GPUs</h3>{_needs(each)}"
    )


def _models(plans: Sequence[ModelPlan]) -> str:
    rows = []
    for plan in plans:
        sized, state = plan.sized, plan.sized.state
        kind = "good" if sized.carries >= 1 else "bad"
        device = f"{plan.replica.gpus} x {escape(plan.replica.hardware.name)}"
        rows.append((
            f"{escape(plan.model.name)} <span class='soft'>{device}</span>",
            sized.replicas, sized.needed or "none", number(sized.load.calls * sized.replicas),
            _range(state.ttft_ms, TTFT_ERROR), _range(state.tpot_ms, TPOT_ERROR), f"{min(state.cache_share, 9.99):.0%}",
            f"<span class='{kind}'>{min(sized.carries, 9999):.2g} x</span>", escape(sized.gives_way),
        ))  # fmt: skip
    return _table(MODELS, rows, words=(0, 8))


def _model(site: Site, plan: ModelPlan) -> str:
    first, further = pictures.times(site, plan)
    shown = [
        _figure("How long until the first token comes, by load", first),
        _figure("How long a further token takes, by load", further),
        _figure(
            f"Memory of one of {plan.replica.hardware.usable_gib:.1f} GiB: {plan.replica.log_tokens:,} tokens of cache",
            pictures.memory(plan),
            is_wide=True,
        ),
    ]
    notes = [f"assumes {assumed_text(plan.replica)}", *remarks(plan.replica)]
    divided = [(plan.wished, ", as the site has it,")] if plan.wished else [(each, "") for each in plan.divided]
    notes += [
        f"prefill and decode apart{as_it_is} on {each.network_gbps:g} Gbit/s {PAYS[each.pays]}: {each.why}"
        for each, as_it_is in divided
    ]
    title = f"<h3>{escape(plan.model.name)}</h3>"
    return f"{title}<div class='pictures'>{''.join(shown)}</div>{_tails(plan)}{_notes(notes)}"


def _tails(plan: ModelPlan) -> str:
    """The simulated hour, where one was asked for."""
    if plan.hour is None:
        return ""
    rows = []
    for who, kind in KINDS.items():
        found = tails(plan.hour, kind)
        for name, title in TIMES.items():
            if part := found[name]:
                rows.append((f"{who}, {title}", *(number(part[at]) for at in ("p50", "p95", "p99"))))
    return (
        _table((f"simulated, {plan.hour.until_ms / 60_000:.0f} minutes; ms", "P50", "P95", "P99"), rows) if rows else ""
    )


def _needs(each: PhasePlan) -> str:
    rows = [
        (
            escape(need.what),
            f"{need.needed:g} {escape(need.unit)}",
            f"{need.there:g} {escape(need.unit)}",
            "<span class='good'>enough</span>" if need.is_met else "<span class='bad'>short</span>",
            f"<span class='soft'>{escape(need.why)}</span>",
        )
        for need in each.needs
    ]
    return _table(("what", "needed", "there is", "", "how it was reckoned"), rows, words=(0, 4))


def _ways(site: Site, phases: Sequence[PhasePlan]) -> str:
    names = list(dict.fromkeys(plan.model.name for each in phases for plan in each.models))
    shown = []
    for name in names:
        ways, out = ways_for(site, name, [], [], 1 / len(names))
        shown.append(_figure(f"{name}: the line joins ways than which no other is better", _frontier(ways), _out(out)))
    return f"<div class='pictures'>{''.join(shown)}</div>"


def _frontier(ways: Sequence[Way]) -> str:
    return pictures.frontier(ways) if ways else "<p>No way carries this load.</p>"


def _out(out: Sequence[Out]) -> str:
    lines = [f"{pictures.name_of(each.replica)}: {each.why}" for each in out]
    return (
        f"<details><summary class='soft'>{len(lines)} ways are none</summary>{_notes(lines)}</details>" if lines else ""
    )


def _calls_words(site: Site) -> str:
    return f"{site.workload.agents:,} agents: most actions are short, few are long, and those make most of the load"


def _figure(caption: str, picture: str, below: str = "", *, is_wide: bool = False) -> str:
    kind = " class='wide'" if is_wide else ""
    return f"<figure{kind}><h4>{escape(caption)}</h4>{picture}{below}</figure>"


def _notes(lines: Iterable[str]) -> str:
    return f"<ul class='notes'>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], words: Sequence[int] = ()) -> str:
    def cells(row: Sequence[object], tag: str) -> str:
        kinds = (" class='words'" if index in words else "" for index in range(len(row)))
        return "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, row, strict=True))

    lines = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    names = cells([escape(each) for each in head], "th")
    return f"<div class='scroll'><table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table></div>"


def _range(value: float, error: float) -> str:
    if math.isinf(value):
        return "<span class='bad'>no end</span>"
    low, high = range_of(value, error)
    return f"{number(low)} to {number(high)}"
