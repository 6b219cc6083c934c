"""Triggers over recorded series: when each fired, as Prometheus would have it."""

from collections.abc import Callable
from dataclasses import dataclass

from rackwright.observe.limits import Limits
from rackwright.observe.series import Series, Value
from rackwright.observe.triggers import TRIGGERS, Both, Bound, Condition, Either, Over, Trigger, figures_of, measured


@dataclass(frozen=True)
class Fired:
    """One trigger on one subject; times in seconds since the series began."""

    trigger: Trigger
    subject: str
    first_s: float
    lasts: bool  # to the end of the series


def judge(series: Series, limits: Limits) -> list[Fired]:
    """Everything that fired; what is not seen fires nothing."""
    return [
        fired
        for trigger in TRIGGERS
        if (condition := measured(trigger.condition, limits))
        for subject in sorted({name for figure in figures_of(condition) for name in series.subjects(figure)})
        if (fired := _fired(trigger, condition, subject, series, limits))
    ]


def _fired(trigger: Trigger, condition: Condition, subject: str, series: Series, limits: Limits) -> Fired | None:
    """The condition must hold at every step for the trigger's time."""
    holds = _condition(condition, subject, series, limits)
    since: int | None = None
    first: float | None = None
    firing = False
    for step in range(series.steps):
        since = (step if since is None else since) if holds(step) else None
        firing = since is not None and (step - since) * series.step_s >= trigger.for_s
        if firing and first is None:
            first = step * series.step_s
    return None if first is None else Fired(trigger, subject, first, lasts=firing)


def _condition(condition: Condition, subject: str, series: Series, limits: Limits) -> Callable[[int], bool]:
    """Whether it holds at a step; a comparison with what was not seen does not."""
    if isinstance(condition, Both | Either):
        parts = [_condition(part, subject, series, limits) for part in condition.parts]
        combine = all if isinstance(condition, Both) else any
        return lambda step: combine(part(step) for part in parts)
    values = series.values(condition.figure, subject)
    bound = _bound(condition.bound, subject, series, limits)
    sign = 1 if isinstance(condition, Over) else -1

    def holds(step: int) -> bool:
        value = values[step] if step < len(values) else None
        against = bound(step)
        return value is not None and against is not None and sign * (value - against) > 0

    return holds


def _bound(bound: Bound, subject: str, series: Series, limits: Limits) -> Callable[[int], Value]:
    if bound.number is not None:
        number = bound.number
        return lambda _: number
    if bound.figure is not None:
        usual = series.values(bound.figure, subject)
        return lambda step: None if step >= len(usual) or (value := usual[step]) is None else value * bound.factor
    limit = limits.of(bound.limit or "", subject)
    return lambda _: None if limit is None else limit * bound.factor
