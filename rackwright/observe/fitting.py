"""A baseline from recorded figures: what was reached, and thresholds fitted to it."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from rackwright.errors import Refusal
from rackwright.observe.baseline import ModelBaseline
from rackwright.observe.series import Series, Value
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

LEAST_PAIRS = 12  # of queue and first token, below which nothing is fitted
LEAST_AGREEMENT = 0.3  # share of the first token's variance that the queue must explain


def baselines(site: Site, phase: Phase, series: Series, source: str) -> list[ModelBaseline]:
    """Every served model that was seen under load; Refusal where none was."""
    served = {each.model.name: each.model.sequences * each.serving.replicas for each in site.groups_in(phase)}
    found = [
        measured(series, name, source, site.targets.ttft_p95_ms / 1e3, float(places))
        for name, places in served.items()
        if series.values("model:ttft_p95", name) and series.last("model:calls", name, 3600)
    ]
    if not found:
        names = ", ".join(served)
        raise Refusal(f"No model of {names} was seen under load.", "Run a load test first: rackwright bench.")
    return found


def measured(series: Series, model: str, source: str, target_s: float, most: float) -> ModelBaseline:
    """One model's figures over the whole of the series; Refusal where one of them cannot be."""
    try:
        return _measured(series, model, source, target_s, most)
    except ValidationError as error:
        first = error.errors()[0]
        figure = ".".join(map(str, first["loc"]))
        raise Refusal(
            f"What was recorded of {model} cannot be: {figure} is {first['input']:.4g} ({first['msg']}).",
            "See what Prometheus says of that figure, and record the baseline again.",
        ) from None


def _measured(series: Series, model: str, source: str, target_s: float, most: float) -> ModelBaseline:
    times: Any = {f"{name}_ms": _percentiles(series, name, model) for name in ("ttft", "tpot", "e2e")}
    queues = series.values("model:queue", model)
    queue, why = fit_queue(queues, series.values("model:ttft_p95", model), target_s, most)
    return ModelBaseline(
        model=model,
        source=source,
        **times,
        calls_per_second=_middle(series.values("model:calls", model)),
        prompt_tokens_per_second=_middle(series.values("model:prompt_tokens", model)),
        output_tokens_per_second=_middle(series.values("model:output_tokens", model)),
        queue_most=max(_seen(queues), default=None),
        hit_rate=_middle(series.values("model:hit_rate", model)),
        queue=queue,
        queue_why=why,
    )


def fit_queue(
    queues: Sequence[Value], times: Sequence[Value], target_s: float, most: float
) -> tuple[float | None, str]:
    """How many calls may wait before P95 of the first token misses its target: where a line through both meets it.

    Nothing where the two do not go together; what the batch holds at most bounds it.
    """
    pairs = [(q, t) for q, t in zip(queues, times, strict=False) if q is not None and t is not None]
    waited = [pair for pair in pairs if pair[0] > 0]
    if len(waited) < LEAST_PAIRS:
        return None, f"{len(waited)} samples with calls that wait, {LEAST_PAIRS} are needed"
    count = len(pairs)
    mean_q, mean_t = sum(q for q, _ in pairs) / count, sum(t for _, t in pairs) / count
    spread_q, spread_t = sum((q - mean_q) ** 2 for q, _ in pairs), sum((t - mean_t) ** 2 for _, t in pairs)
    together = sum((q - mean_q) * (t - mean_t) for q, t in pairs)
    agreement = together**2 / (spread_q * spread_t) if spread_q > 0 and spread_t > 0 else 0.0
    slope = together / spread_q if spread_q > 0 else 0.0
    if slope <= 0 or agreement < LEAST_AGREEMENT:
        return None, f"the first token does not follow the queue (r² {agreement:.2f})"
    begins = mean_t - slope * mean_q
    fitted = min(max((target_s - begins) / slope, 1.0), most)
    return round(fitted, 1), (
        f"P95 of the first token is {begins * 1e3:.0f} ms and {slope * 1e3:.0f} ms for each call that waits "
        f"(r² {agreement:.2f}, {count} samples)"
    )


def _percentiles(series: Series, name: str, model: str) -> dict[str, float] | None:
    """The medians of each percentile over the test, in ms."""
    found = {at: _middle(series.values(f"model:{name}_{at}", model)) for at in ("p50", "p95", "p99")}
    if any(value is None for value in found.values()):
        return None
    return {at: round((value or 0) * 1e3, 3) for at, value in found.items()}


def _middle(values: Sequence[Value]) -> float | None:
    seen = sorted(_seen(values))
    return seen[len(seen) // 2] if seen else None


def _seen(values: Sequence[Value]) -> list[float]:
    return [value for value in values if value is not None]
