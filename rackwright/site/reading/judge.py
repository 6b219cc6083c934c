"""How rules are found and run: whatever is wrong elsewhere, each judges what it can see."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from rackwright.site.reading.faults import Place
from rackwright.site.reading.unknown import NotKnown, Unknown, is_known


class Broken(NamedTuple):
    """Where a rule is broken, what is wrong (with both values), and the cure."""

    place: Place
    what: str
    cure: str


Rule = Callable[..., Iterator[Broken]]
ONE_OF = {"host": "hosts", "model": "models", "tenant": "tenants"}


def rules_in(module: ModuleType) -> tuple[Rule, ...]:
    """The rules of a module: its public functions."""
    functions = inspect.getmembers(module, inspect.isfunction)
    return tuple(rule for name, rule in functions if rule.__module__ == module.__name__ and not name.startswith("_"))


def judge(rules: tuple[Rule, ...], blocks: Mapping[str, Any]) -> Iterator[tuple[Rule, Broken]]:
    """What rules have against blocks; a rule ends where it meets something that is not known."""
    for rule in rules:
        try:
            for case in _cases(rule, blocks):
                try:
                    for each in rule(**case):
                        yield rule, each
                except (NotKnown, TypeError) as error:
                    _must_be_unknown(error)
        except (NotKnown, TypeError) as error:
            _must_be_unknown(error)


def _must_be_unknown(error: Exception) -> None:
    """Raise an error of a rule's own; a built-in function that meets the unknown value says its type."""
    if isinstance(error, TypeError) and Unknown.__name__ not in str(error):
        raise error


@cache  # a site is judged again and again where it is asked what it can do without
def _parameters(rule: Rule) -> tuple[str, ...]:
    return tuple(inspect.signature(rule).parameters)


def _cases(rule: Rule, blocks: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What a rule is called with, one call after the other; the mapping is filled anew for each."""
    wanted = _parameters(rule)
    case = {name: blocks[name] for name in wanted if name in blocks}
    one = next((name for name in wanted if name in ONE_OF), None)
    for phase in blocks["site"].phases if "phase" in wanted else (None,):
        if phase is not None:
            case["phase"] = phase
        if one is None:
            yield case
            continue
        for index, item in enumerate(blocks[ONE_OF[one]]):
            if is_known(item):
                case[one] = item
                if "place" in wanted:
                    case["place"] = (ONE_OF[one], index)
                yield case
