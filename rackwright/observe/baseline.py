"""What a load test measured, and the thresholds that were fitted to it; kept beside the site."""

import json
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rackwright.errors import Refusal

FILE_NAME = "baseline.json"
Positive = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Measured(BaseModel):
    """Closed to what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Percentiles(Measured):
    """Of one time, in ms."""

    p50: Positive
    p95: Positive
    p99: Positive


class ModelBaseline(Measured):
    """One model under the load of the test; absent: not measured."""

    model: str
    source: str
    recorded: str = Field(default="", description="When, e.g. 2026-11-30T09:00Z.")
    ttft_ms: Percentiles | None = None
    tpot_ms: Percentiles | None = None
    e2e_ms: Percentiles | None = None
    calls_per_second: Positive | None = None
    prompt_tokens_per_second: Positive | None = None
    output_tokens_per_second: Positive | None = None
    queue_most: Positive | None = None
    hit_rate: Annotated[float, Field(ge=0, le=1)] | None = None
    queue: Positive | None = Field(default=None, description="Fitted: calls that may wait before the target is missed.")
    queue_why: str = ""


class Baseline(Measured):
    """Everything that was measured of a site; `storage` is what a host's drives gave at most, in bytes a second."""

    recorded: str = ""
    models: tuple[ModelBaseline, ...] = ()
    storage: dict[str, Positive] = {}

    def with_model(self, model: ModelBaseline) -> "Baseline":
        """The same with one model measured again: what the new measurement does not know stays."""
        before = next((each for each in self.models if each.model == model.model), None)
        if before is not None:
            known = model.model_dump(exclude_none=True)
            model = ModelBaseline.model_validate({**before.model_dump(), **known})
        others = [each for each in self.models if each.model != model.model]
        return self.model_copy(update={"models": (*others, model)})


def load(folder: Path) -> Baseline | None:
    """The baseline beside a site's file; nothing where none was recorded."""
    file = folder / FILE_NAME
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{file} cannot be read ({error}).", "Mend it, or record the baseline again.") from None
    try:
        return Baseline.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise Refusal(
            f"{file}: {place}: {first['msg']}.", "Record it again with `rackwright baseline`, or remove it."
        ) from None


def save(baseline: Baseline, folder: Path) -> Path:
    """Write it beside the site's file, whole or not at all."""
    file = folder / FILE_NAME
    made = file.with_name(f".{FILE_NAME}.new")
    try:
        made.write_text(json.dumps(baseline.model_dump(exclude_none=True), indent=2) + "\n", encoding="utf-8")
        made.replace(file)
    except OSError as error:
        raise Refusal(f"{file} cannot be written ({error.strerror}).", "Mend its folder's owner or mode.") from None
    return file


def text(baseline: Baseline) -> str:
    """For a terminal."""
    lines = []
    for each in baseline.models:
        lines.append(f"{each.model} ({each.source}):")
        times = (("first token", each.ttft_ms), ("further token", each.tpot_ms), ("call", each.e2e_ms))
        lines += [
            f"  {title}: P50 {time.p50:.4g}, P95 {time.p95:.4g}, P99 {time.p99:.4g} ms" for title, time in times if time
        ]
        rates = (
            (each.calls_per_second, "calls a second"),
            (each.prompt_tokens_per_second, "prompt tokens a second"),
            (each.output_tokens_per_second, "generated tokens a second"),
            (each.hit_rate, "of prompt tokens found in the cache"),
            (each.queue_most, "calls waited at most"),
        )
        lines += [f"  {value:.4g} {what}" for value, what in rates if value is not None]
        fitted = f"{each.queue:g}" if each.queue is not None else "not fitted, a quarter of the batches"
        lines.append(f"  threshold of the queue: {fitted}" + (f"; {each.queue_why}" if each.queue_why else ""))
    lines += [f"drives of {host}: {speed / 1e9:.3g} GB/s at most" for host, speed in sorted(baseline.storage.items())]
    return "\n".join(lines)
