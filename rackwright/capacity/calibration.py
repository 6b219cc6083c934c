"""Fits the constants to a file of measurements and judges them on rows that they were not fitted on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rackwright.capacity.constants import CONSTANTS, Fitted
from rackwright.capacity.fitting import Observation, fit, observe, predicted
from rackwright.capacity.measurements import Measurement, read_measurements
from rackwright.capacity.verification import Errors, errors
from rackwright.errors import Refusal

FEWEST = 30
HEAD = """\
# Written by `rackwright plan fit {name} --write`; meaning, unit and prior of each: rackwright/capacity/constants.py.
# held_out: absolute relative errors (mean, P90, worst) on the rows of a model or a GPU, fitted on all others.
"""


@dataclass(frozen=True)
class HeldOut:
    """Errors on the rows of one model or one GPU by constants that were fitted without them."""

    without: str
    ttft: Errors
    tpot: Errors


@dataclass(frozen=True)
class Calibration:
    """Constants, the rows behind them, and their errors on rows held out."""

    constants: Fitted
    rows: int
    inside: HeldOut
    by_model: tuple[HeldOut, ...]
    by_gpu: tuple[HeldOut, ...]


def calibrate(file: Path) -> Calibration:
    """Constants for a file of measurements; raises Refusal where its rows are too few."""
    observations = list(_observations(file))
    if len(observations) < FEWEST:
        raise Refusal(
            f"{file} has {len(observations)} rows that say something about speed; the constants need {FEWEST}.",
            "Add runs that no limit held up.",
        )
    constants = fit(observations)
    return Calibration(
        constants,
        len(observations),
        _judge("nothing", observations, constants),
        _leave_out(observations, lambda row: row.model),
        _leave_out(observations, lambda row: row.gpu),
    )


def _observations(file: Path) -> list[Observation]:
    """Rows that no limit held up; a first reckoning finds those with a queue that their columns do not explain."""
    rows = [row for row in read_measurements(file) if isinstance(row, Measurement)]
    observations = [found for row in rows if (found := observe(row))]
    if len(observations) < FEWEST:
        return observations
    rough = fit(observations)
    return [each for each in observations if not _queued(each, rough)]


def _queued(observation: Observation, constants: Fitted) -> bool:
    return observation.row.ttft_ms > 5 * predicted(observation, constants.values)[0]


def _leave_out(observations: Sequence[Observation], key: Callable[[Measurement], str]) -> tuple[HeldOut, ...]:
    found = []
    for word in sorted({key(each.row) for each in observations}):
        others = [each for each in observations if key(each.row) != word]
        if others:
            own = [each for each in observations if key(each.row) == word]
            found.append(_judge(word, own, fit(others)))
    return tuple(found)


def _judge(without: str, observations: Sequence[Observation], constants: Fitted) -> HeldOut:
    pairs = [(each.row, *predicted(each, constants.values)) for each in observations]
    ttft = errors(first / row.ttft_ms - 1 for row, first, _ in pairs)
    tpot = errors(further / row.tpot_ms - 1 for row, _, further in pairs)
    if ttft is None or tpot is None:
        raise Refusal("There are no rows to judge by.", "Add runs that no limit held up.")
    return HeldOut(without, ttft, tpot)


def write(found: Calibration, file: Path, source: str) -> None:
    """Write constants and errors as the data file that the model of time reads."""
    values = zip(CONSTANTS, found.constants.values, strict=True)
    data: dict[str, Any] = {
        "fitted_on": {"file": source, "rows": found.rows},
        "constants": {each.name: round(value, 4) for each, value in values},
        "held_out": {
            "by_model": {each.without: _figures(each) for each in found.by_model},
            "by_gpu": {each.without: _figures(each) for each in found.by_gpu},
        },
    }
    text = HEAD.format(name=source) + yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=110)
    file.write_text(text, encoding="utf-8")


def _figures(each: HeldOut) -> dict[str, list[float] | int]:
    return {
        "rows": each.ttft.rows,
        "ttft": [round(value, 3) for value in (each.ttft.mean, each.ttft.p90, each.ttft.worst)],
        "tpot": [round(value, 3) for value in (each.tpot.mean, each.tpot.p90, each.tpot.worst)],
    }


def as_data(found: Calibration) -> dict[str, Any]:
    """Constants and errors as plain data."""
    values = zip(CONSTANTS, found.constants.values, strict=True)
    return {
        "rows": found.rows,
        "constants": [
            {"name": each.name, "value": value, "unit": each.unit, "meaning": each.meaning, "prior": each.prior}
            for each, value in values
        ],
        "inside": {"ttft": vars(found.inside.ttft), "tpot": vars(found.inside.tpot)},
        "held_out_by_model": {e.without: {"ttft": vars(e.ttft), "tpot": vars(e.tpot)} for e in found.by_model},
        "held_out_by_gpu": {e.without: {"ttft": vars(e.ttft), "tpot": vars(e.tpot)} for e in found.by_gpu},
    }
