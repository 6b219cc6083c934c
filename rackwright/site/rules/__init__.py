"""Rules that see more than one block of a site: one function a rule, in a module by concern.

A rule is a function whose parameters are named for the blocks that it reads (`hosts`, `models`, `catalog`, ...). It
yields a `Broken` for each thing that is wrong. It runs whenever the blocks that it reads are sound, whatever is wrong
elsewhere, so that one run of validation shows everything.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from rackwright.site.faults import Place


class Broken(NamedTuple):
    """Where a rule is broken, what is wrong (with both values), and the cure."""

    place: Place
    what: str
    cure: str


Rule = Callable[..., Iterator[Broken]]


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule: the public functions that modules of this package define."""
    found: list[Rule] = []
    for module_info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{module_info.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                found.append(function)
    return tuple(found)


def broken(blocks: Mapping[str, Any]) -> Iterator[Broken]:
    """What the rules have against these blocks; a rule that reads a block which is not here does not run."""
    for rule in rules():
        wanted = inspect.signature(rule).parameters
        if all(name in blocks for name in wanted):
            yield from rule(**{name: blocks[name] for name in wanted})
