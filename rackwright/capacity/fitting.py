"""Fits the constants of the model of time: least relative squares with priors, none below zero, outliers damped."""

from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.capacity.closed_loop import Schedule
from rackwright.capacity.constants import CONSTANTS, MICROSECONDS, STEP_CONSTANTS, Fitted
from rackwright.capacity.measurements import Measurement
from rackwright.capacity.runs import run_of
from rackwright.capacity.work import Work

FIRST_WEIGHT = 0.5  # of a time to the first token beside a time of a further token: half its error counts
PRIOR_WEIGHT = 0.3
OUTLIER_FIRST, OUTLIER_FURTHER = 0.2, 0.1  # relative errors beyond which a row's weight falls
ROUNDS = 6
SWEEPS = 4000
SETTLED = 1e-10


@dataclass(frozen=True)
class Observation:
    """A measurement with the amounts of its schedule, per request, in ms at a constant of one."""

    row: Measurement
    first: tuple[float, ...]
    further: tuple[float, ...]


def observe(row: Measurement) -> Observation | None:
    """The amounts behind a measurement; nothing where the cache limited the run, whose times are waiting."""
    run = run_of(row)
    if run.is_limited:
        return None
    units = [MICROSECONDS.get(each.unit, 1.0) for each in STEP_CONSTANTS]
    first, further = _amounts(run, Work(row.replica))
    scaled = tuple(amount * unit for amount, unit in zip(first, units, strict=True))
    return Observation(row, scaled, tuple(amount * unit for amount, unit in zip(further, units, strict=True)))


def fit(observations: Sequence[Observation]) -> Fitted:
    """The constants that explain the observations best."""
    values = [each.prior for each in CONSTANTS]
    damped = [(1.0, 1.0)] * len(observations)
    for _ in range(ROUNDS):
        values = _solve(observations, values, damped)
        damped = [_damping(each, values) for each in observations]
    return Fitted(tuple(values))


def predicted(observation: Observation, values: Sequence[float]) -> tuple[float, float]:
    """Time to the first token and of a further token, in ms."""
    further = _dot(observation.further, values)
    return _dot(_first_row(observation, further), values), further


def _amounts(run: Schedule, work: Work) -> tuple[list[float], list[float]]:
    passed = [(0.0,) * len(STEP_CONSTANTS)]
    for step in run.steps:
        middle = step.context + step.decodes * (step.count - 1) / 2
        amounts = work.step(step.decodes, middle, step.prefill, step.pairs)
        last = passed[-1]
        passed.append(tuple(before + step.count * amount for before, amount in zip(last, amounts, strict=True)))
    first, further = [0.0] * len(STEP_CONSTANTS), [0.0] * len(STEP_CONSTANTS)
    count = len(run.requests)
    for request in run.requests:
        came, began, ended = passed[request.came], passed[request.first], passed[request.last]
        share = count * max(request.tokens - 1, 1)
        for index, here in enumerate(began):
            first[index] += (here - came[index]) / count
            further[index] += (ended[index] - here) / share
    return first, further


def _first_row(observation: Observation, further: float) -> tuple[float, ...]:
    return (*observation.first, 1.0, observation.row.prompt * 1e-3, further)


def _dot(row: Sequence[float], values: Sequence[float]) -> float:
    return sum(amount * value for amount, value in zip(row, values, strict=False))


def _damping(observation: Observation, values: Sequence[float]) -> tuple[float, float]:
    first, further = predicted(observation, values)
    wrong_first = abs(first / observation.row.ttft_ms - 1)
    wrong_further = abs(further / observation.row.tpot_ms - 1)
    return max(1.0, wrong_first / OUTLIER_FIRST) ** -0.5, max(1.0, wrong_further / OUTLIER_FURTHER) ** -0.5


def _solve(
    observations: Sequence[Observation], values: Sequence[float], damped: Sequence[tuple[float, float]]
) -> list[float]:
    """Normal equations of the weighted rows and the priors, solved by sweeps that keep every constant above zero."""
    size = len(CONSTANTS)
    left = [[0.0] * size for _ in range(size)]
    right = [0.0] * size
    for index, each in enumerate(CONSTANTS):
        left[index][index] += (PRIOR_WEIGHT / each.spread) ** 2
        right[index] += (PRIOR_WEIGHT / each.spread) ** 2 * each.prior
    for observation, (first_weight, further_weight) in zip(observations, damped, strict=True):
        further = _dot(observation.further, values)
        scale = FIRST_WEIGHT * first_weight / observation.row.ttft_ms
        _add(left, right, _first_row(observation, further), scale, observation.row.ttft_ms)
        scale = further_weight / observation.row.tpot_ms
        _add(left, right, observation.further, scale, observation.row.tpot_ms)
    return _sweep(left, right, values)


def _add(left: list[list[float]], right: list[float], row: Sequence[float], scale: float, target: float) -> None:
    scaled = [amount * scale for amount in row]
    for index, amount in enumerate(scaled):
        if amount:
            line = left[index]
            for other, amount_other in enumerate(scaled):
                line[other] += amount * amount_other
            right[index] += amount * scale * target


def _sweep(left: list[list[float]], right: list[float], start: Sequence[float]) -> list[float]:
    values = list(start)
    for _ in range(SWEEPS):
        moved = 0.0
        for index, line in enumerate(left):
            rest = right[index] - _dot(line, values) + line[index] * values[index]
            new = max(rest / line[index], 0.0)
            moved = max(moved, abs(new - values[index]) / (abs(new) + 1e-9))
            values[index] = new
        if moved < SETTLED:
            break
    return values
