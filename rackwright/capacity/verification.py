"""Predictions held against measurements: errors by model and GPU, rows past a limit apart, unanswered ones with why."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from rackwright.capacity.measurements import Measurement, Unanswered, read_measurements
from rackwright.capacity.runs import run_of
from rackwright.capacity.timing import Timing

QUEUED = 3.0  # a measured first token so many times later than reckoned has waited in a queue
QUEUED_SHARE = 0.1  # and it has, if that is a good part of the time that the answer takes besides


@dataclass(frozen=True)
class Judged:
    """One measurement and what was reckoned for it, in ms; `limit` is what made its requests wait, if anything did."""

    row: Measurement
    ttft_ms: float
    tpot_ms: float
    limit: str | None

    @property
    def ttft_error(self) -> float:
        """Relative error of the time to the first token."""
        return self.ttft_ms / self.row.ttft_ms - 1

    @property
    def tpot_error(self) -> float:
        """Relative error of the time of a further token."""
        return self.tpot_ms / self.row.tpot_ms - 1


@dataclass(frozen=True)
class Errors:
    """Absolute relative errors of some rows."""

    rows: int
    mean: float
    median: float
    p90: float
    worst: float


def errors(values: Iterable[float]) -> Errors | None:
    """Figures of absolute errors; nothing for no rows."""
    sizes = sorted(abs(value) for value in values)
    if not sizes:
        return None
    return Errors(len(sizes), fmean(sizes), median(sizes), quantile(sizes, 0.9), sizes[-1])


def quantile(ordered: Sequence[float], share: float) -> float:
    """A quantile of ordered values, between the two nearest."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


@dataclass(frozen=True)
class Verification:
    """All rows of a file."""

    judged: tuple[Judged, ...]
    unanswered: tuple[Unanswered, ...]

    @property
    def free(self) -> tuple[Judged, ...]:
        """Rows whose requests did not wait for room."""
        return tuple(each for each in self.judged if each.limit is None)

    @property
    def limited(self) -> tuple[Judged, ...]:
        """Rows whose times are mostly waiting."""
        return tuple(each for each in self.judged if each.limit is not None)


def verify(file: Path) -> Verification:
    """Every row of a file of measurements, reckoned; raises Refusal where the file is none."""
    answers = [row if isinstance(row, Unanswered) else _judge(row) for row in read_measurements(file)]
    return Verification(
        tuple(each for each in answers if isinstance(each, Judged)),
        tuple(each for each in answers if isinstance(each, Unanswered)),
    )


def _judge(row: Measurement) -> Judged | Unanswered:
    replica = row.replica
    longest = row.prompt + row.output
    if replica.sequences_of(float(longest)) < 1:
        held = replica.memory
        reason = (
            f"not one sequence of {longest} tokens fits: weights {held.weights:.1f} GiB a GPU leave "
            f"{held.pool:.1f} GiB of {held.budget:.1f} GiB"
        )
        return Unanswered(row.line, row.model, row.gpu, reason)
    run = run_of(row)
    ttft, tpot = Timing(replica).measured(run, row.prompt)
    limit = "cache" if run.is_limited else None
    if limit is None and row.ttft_ms > QUEUED * ttft and row.ttft_ms > QUEUED_SHARE * row.output * row.tpot_ms:
        limit = "measured queue"
    return Judged(row, ttft, tpot, limit)


def by(judged: Iterable[Judged], key: Callable[[Judged], str]) -> dict[str, tuple[Errors | None, Errors | None]]:
    """Errors of the first and of further tokens, by a word of each row."""
    groups: dict[str, list[Judged]] = {}
    for each in judged:
        groups.setdefault(key(each), []).append(each)
    return {
        word: (errors(each.ttft_error for each in group), errors(each.tpot_error for each in group))
        for word, group in sorted(groups.items())
    }


def as_data(found: Verification) -> dict[str, Any]:
    """The whole of it as plain data."""
    return {
        "rows": len(found.judged) + len(found.unanswered),
        "answered": len(found.judged),
        "errors": _pair((errors(e.ttft_error for e in found.free), errors(e.tpot_error for e in found.free))),
        "by_model": {word: _pair(pair) for word, pair in by(found.free, lambda each: each.row.model).items()},
        "by_gpu": {word: _pair(pair) for word, pair in by(found.free, lambda each: each.row.gpu).items()},
        "past_limit": [_row(each) for each in found.limited],
        "unanswered": [vars(each) for each in found.unanswered],
        "predictions": [_row(each) for each in found.judged],
    }


def _pair(pair: tuple[Errors | None, Errors | None]) -> dict[str, Any]:
    return {name: vars(part) if part else None for name, part in zip(("ttft", "tpot"), pair, strict=True)}


def _row(each: Judged) -> dict[str, Any]:
    row, replica = each.row, each.row.replica
    return {
        "line": row.line,
        "model": row.model,
        "gpu": row.gpu,
        "tensor_parallel": replica.tensor_parallel,
        "input_tokens": row.prompt,
        "output_tokens": row.output,
        "concurrency": row.concurrency,
        "ttft_ms": {"measured": row.ttft_ms, "predicted": round(each.ttft_ms, 2), "error": round(each.ttft_error, 4)},
        "tpot_ms": {"measured": row.tpot_ms, "predicted": round(each.tpot_ms, 3), "error": round(each.tpot_error, 4)},
        "past_limit": each.limit is not None,
        "limit": each.limit,
        "assumed": {
            "precision": replica.stored_precision,
            "kv_bits": replica.kv_bits,
            "memory_fraction": replica.memory_fraction,
            "max_num_seqs": replica.sequences,
            "max_num_batched_tokens": replica.step_tokens,
            "expert_parallel": replica.spreads_experts,
            "engine": replica.version,
        },
    }
