"""Conditions as Prometheus reads them."""

from rackwright.observe.figure import LABELS, Level
from rackwright.observe.figures import FIGURES
from rackwright.observe.limits import Limits
from rackwright.observe.triggers import Both, Bound, Condition, Either, Over


def limit_series(name: str) -> str:
    """The series under which limits by subject are kept, for alerts and for lines in plots."""
    return f"rackwright:limit:{name}"


def condition(wanted: Condition, level: Level, limits: Limits) -> str:
    """A condition whose limits are known; true where it yields a series."""
    on = f"on ({', '.join(LABELS[level])})"
    if isinstance(wanted, Both):
        return f" and {on} ".join(_grouped(part, level, limits) for part in wanted.parts)
    if isinstance(wanted, Either):
        return f" or {on} ".join(_grouped(part, level, limits) for part in wanted.parts)
    sign = ">" if isinstance(wanted, Over) else "<"
    return f"{FIGURES[wanted.figure].record} {sign} {_bound(wanted.bound, on, limits)}"


def _grouped(part: Condition, level: Level, limits: Limits) -> str:
    return f"({condition(part, level, limits)})"


def _bound(bound: Bound, on: str, limits: Limits) -> str:
    if bound.number is not None:
        return f"{bound.number:.12g}"
    if bound.figure is not None:
        return f"{on} ({bound.factor:g} * {FIGURES[bound.figure].record})"
    name = bound.limit or ""
    if limits.each.get(name):
        return f"{on} ({bound.factor:g} * {limit_series(name)})"
    return f"{limits.same[name] * bound.factor:.12g}"
