"""How rules are found and run: whatever is wrong elsewhere, each judges what it can see."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from types import ModuleType
from typing import Any, NamedTuple

from rackwright.site.faults import Place
from rackwright.site.unknown import NotKnown, is_known


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
                yield from _verdict(rule, case)
        except NotKnown:
            continue


def _verdict(rule: Rule, case: dict[str, Any]) -> Iterator[tuple[Rule, Broken]]:
    try:
        for each in rule(**case):
            yield rule, each
    except NotKnown:
        return


def _cases(rule: Rule, blocks: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    wanted = inspect.signature(rule).parameters
    whole = {name: blocks[name] for name in wanted if name in blocks}
    one = next((name for name in wanted if name in ONE_OF), None)
    phases = [{"phase": phase} for phase in blocks["site"].phases] if "phase" in wanted else [{}]
    items = [{}] if one is None else _items(one, blocks[ONE_OF[one]], with_place="place" in wanted)
    for item, phase in product(items, phases):
        yield whole | item | phase


def _items(one: str, items: Any, *, with_place: bool) -> list[dict[str, Any]]:
    known = ((index, item) for index, item in enumerate(items) if is_known(item))
    return [{one: item} | ({"place": (ONE_OF[one], index)} if with_place else {}) for index, item in known]
