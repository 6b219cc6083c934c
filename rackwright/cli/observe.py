"""`rackwright baseline` and `rackwright advise`: what a running site shows, and what to do about it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rackwright.cli import options
from rackwright.errors import Refusal

if TYPE_CHECKING:
    from rackwright.observe.series import Series

PROMETHEUS_HELP = "A Prometheus' address, e.g. http://localhost:9090."
Address = Annotated[str | None, typer.Option("--prometheus", metavar="URL", help=PROMETHEUS_HELP)]
Recorded = Annotated[
    Path | None, typer.Option("--series", metavar="FILE", help="Figures that `advise --save` wrote, instead.")
]
Minutes = Annotated[int, typer.Option(min=5, max=7 * 24 * 60, help="How far back to look.")]
Phase = Annotated[int | None, typer.Option(min=1, max=2, help="The phase; absent: the site's first.")]
STEP_S = 15.0
MOST_STEPS = 2_000


def advise(
    context: typer.Context,
    site: options.Site,
    *,
    prometheus: Address = None,
    series: Recorded = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write down what was read, to judge it again.")
    ] = None,
    minutes: Minutes = 60,
    phase: Phase = None,
    json: options.Json = False,
) -> None:
    """Read a site's figures and say what to do: nothing, scale, phase 2, prefill and decode apart, and why."""
    from rackwright.advice.advice import advice_data, advice_text
    from rackwright.advice.advise import advise as advice_about
    from rackwright.observe import baseline
    from rackwright.observe.series import save as written
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    found = Site.load(site)
    read = _series(prometheus, series, minutes)
    if save is not None:
        written(read, save)
        output.note(f"What was read is in {save}.")
    measured = baseline.load(site)
    if measured is None:
        output.note("No baseline was recorded, so thresholds are the site's targets and defaults: rackwright baseline.")
    said = advice_about(found, _phase(found.phases, phase), read, measured)
    output.result(advice_text(said), {"ok": True, "site": found.name, "advice": advice_data(said)})


def record(
    context: typer.Context,
    site: options.Site,
    *,
    prometheus: Address = None,
    series: Recorded = None,
    bench: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What `rackwright bench --out` wrote, instead.")
    ] = None,
    storage: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST=GB/S", help="What a host's drives give at most, as fio or the like measured it."),
    ] = None,
    minutes: Minutes = 30,
    phase: Phase = None,
    json: options.Json = False,
) -> None:
    """Record what a load test reached and fit thresholds to it; kept in baseline.json beside the site's file."""
    from rackwright.observe import baseline
    from rackwright.observe.baseline import Baseline
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    found = Site.load(site)
    kept = baseline.load(site) or Baseline()
    limits = dict(kept.storage) | dict(_storage(each, [host.name for host in found.hosts]) for each in storage or [])
    kept = kept.model_copy(update={"storage": limits})
    now = _now()
    if bench is not None:
        from rackwright.bench.result import load, of_baseline

        result = load(bench)
        served = [model.name for model in found.models]
        if result.model not in served:
            raise Refusal(f"{bench} is of {result.model[:60]}.", f"The site serves {', '.join(served)}.")
        kept = kept.with_model(of_baseline(result).model_copy(update={"recorded": now}))
    elif prometheus or series or not storage:
        from rackwright.observe.fitting import baselines

        read = _series(prometheus, series, minutes)
        source = prometheus or str(series)
        for each in baselines(found, _phase(found.phases, phase), read, f"{minutes} minutes of {source}"):
            kept = kept.with_model(each.model_copy(update={"recorded": now}))
    kept = kept.model_copy(update={"recorded": now})
    file = baseline.save(kept, site)
    output.note(f"Recorded in {file}; `pulumi up` brings its thresholds into the alerts.")
    output.result(baseline.text(kept), {"ok": True, "file": str(file), **kept.model_dump(exclude_none=True)})


def _series(prometheus: str | None, series: Path | None, minutes: int) -> "Series":
    from rackwright.observe.figures import FIGURES
    from rackwright.observe.prometheus import Prometheus
    from rackwright.observe.series import load

    if (prometheus is None) == (series is None):
        raise typer.BadParameter("name either --prometheus URL or --series FILE")
    if series is not None:
        return load(series)
    step_s = max(STEP_S, minutes * 60 / MOST_STEPS)
    return Prometheus(prometheus or "").read(FIGURES.values(), seconds=minutes * 60, step_s=step_s)


def _phase(phases: Sequence[int], wished: int | None) -> Literal[1, 2]:
    phase = options.phase_of(wished or min(phases))
    if phase not in phases:
        raise Refusal(f"The site has no phase {phase}.", f"Its phases: {', '.join(map(str, phases))}.")
    return phase


def _storage(stated: str, hosts: list[str]) -> tuple[str, float]:
    """HOST=GB/S, with a host of the site."""
    host, _, text = stated.partition("=")
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if host not in hosts or not 0 < speed < 10_000:
        raise typer.BadParameter(f"{stated!r} is not HOST=GB/S with one of {', '.join(hosts)}, such as {hosts[0]}=12.5")
    return host, speed * 1e9


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")
