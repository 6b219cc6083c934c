"""What a load test found: percentiles, throughput, errors; and the baseline that follows from it."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rackwright.bench.client import Timed
from rackwright.bench.load import Run
from rackwright.errors import Refusal
from rackwright.observe.baseline import ModelBaseline, Percentiles
from rackwright.observe.trend import trend


class Result(BaseModel):
    """One test; times in ms. None where nothing was measured of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    endpoint: str
    trace: str
    load: dict[str, Any]
    seconds: float
    calls: int
    failed: dict[str, int]
    held_back: int
    ttft_ms: Percentiles | None
    tpot_ms: Percentiles | None
    e2e_ms: Percentiles | None
    action_ms: Percentiles | None
    calls_per_second: float
    prompt_tokens_per_second: float
    output_tokens_per_second: float
    hit_rate: float | None
    is_saturated: bool


def result(run: Run, seconds: float, *, model: str, endpoint: str, trace: str, warm_up_s: float = 0.0) -> Result:
    """The test's figures, without calls that began while it warmed up."""
    counted = [call for call in run.calls if call.begun_s >= warm_up_s]
    good = [call for call in counted if call.error is None]
    time = max(seconds - warm_up_s, 1e-9)
    prompts, cached = sum(call.prompt_tokens for call in good), sum(call.cached_tokens for call in good)
    return Result(
        model=model,
        endpoint=endpoint,
        trace=trace,
        load=dict(vars(run.load)),
        seconds=round(time, 3),
        calls=len(good),
        failed=dict(Counter(call.error for call in counted if call.error is not None)),
        held_back=run.held_back,
        ttft_ms=percentiles(call.ttft_s for call in good),
        tpot_ms=percentiles(call.tpot_s for call in good),
        e2e_ms=percentiles(call.total_s for call in good),
        action_ms=percentiles(run.actions_s),
        calls_per_second=len(good) / time,
        prompt_tokens_per_second=prompts / time,
        output_tokens_per_second=sum(call.output_tokens for call in good) / time,
        hit_rate=cached / prompts if prompts and cached else None,
        is_saturated=_rises(good),
    )


def percentiles(times_s: Iterable[float | None]) -> Percentiles | None:
    """P50, P95 and P99 in ms; nothing of nothing."""
    seen = sorted(time * 1e3 for time in times_s if time is not None)
    if not seen:
        return None
    at = {name: seen[min(int(share * len(seen)), len(seen) - 1)] for name, share in SHARES.items()}
    return Percentiles.model_validate({name: round(value, 3) for name, value in at.items()})


SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def _rises(calls: list[Timed]) -> bool:
    """Whether the first token came later and later, by half and beyond chance: more was asked than is answered."""
    line = trend([call.ttft_s for call in sorted(calls, key=lambda call: call.begun_s)])
    return line is not None and line.rises and line.ends > 1.5 * max(line.begins, 1e-9)


def of_baseline(found: Result) -> ModelBaseline:
    """The same as a baseline; what waits inside the engine a client does not see."""
    loop = found.load.get("loop")
    at_once = f"{found.load.get('sessions')} at once, " if loop == "closed" else ""
    return ModelBaseline(
        model=found.model,
        source=f"rackwright bench, {loop} loop, {found.trace}, {found.calls} calls, {at_once}{found.endpoint}",
        ttft_ms=found.ttft_ms,
        tpot_ms=found.tpot_ms,
        e2e_ms=found.e2e_ms,
        calls_per_second=found.calls_per_second,
        prompt_tokens_per_second=found.prompt_tokens_per_second,
        output_tokens_per_second=found.output_tokens_per_second,
        hit_rate=found.hit_rate,
    )


def load(file: Path) -> Result:
    """A test that was written down."""
    try:
        return Result.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{file} cannot be read ({error}).", "Name a file that `bench --out` wrote.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise Refusal(f"{file}: {place}: {first['msg']}.", "Name a file that `bench --out` wrote.") from None


def save(found: Result, file: Path) -> None:
    """Write a test down."""
    try:
        file.write_text(json.dumps(found.model_dump(), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{file} cannot be written ({error.strerror}).", "Name another file.") from None


def text(found: Result) -> str:
    """For a terminal."""
    lines = [f"{found.model}, {found.trace}, {found.load['loop']} loop: {found.calls} calls in {found.seconds:.0f} s"]
    times = {
        "first token": found.ttft_ms,
        "further token": found.tpot_ms,
        "call": found.e2e_ms,
        "action": found.action_ms,
    }
    lines += [
        f"  {title}: P50 {each.p50:.4g}, P95 {each.p95:.4g}, P99 {each.p99:.4g} ms"
        for title, each in times.items()
        if each
    ]
    lines.append(
        f"  {found.calls_per_second:.3g} calls, {found.prompt_tokens_per_second:.4g} prompt tokens and "
        f"{found.output_tokens_per_second:.4g} generated tokens a second"
    )
    if found.hit_rate is not None:
        lines.append(f"  {found.hit_rate:.0%} of prompt tokens found in the cache")
    lines += [f"  failed: {count} times {error}" for error, count in sorted(found.failed.items())]
    if found.held_back:
        lines.append(f"  {found.held_back} sessions were not begun: the most at once were at work")
    if found.is_saturated:
        lines.append("  The first token came later and later: the endpoint was asked for more than it answers.")
    return "\n".join(lines)
