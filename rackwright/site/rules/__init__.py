"""Rules that see more than one value of a site: one function a rule, in a module by concern.

A rule is a function that yields a `Broken` for each thing that is wrong, with both values and the cure. Its parameters
name what it reads:

- a block of the site (`hosts`, `networks`, ...), or `catalog`, or `site` for the whole;
- `host`, `model` or `tenant`: the rule runs once for each of them, and `place` then says where that one stands;
- `phase`: the rule runs once for each phase that the site has.

Where the file is wrong in other places, a rule runs all the same: it ends at the first value that is not known (see
rackwright.site.reading.unknown), so one run of validation shows everything. So a rule about each host takes `host`
instead of a loop, and a rule over all of them steps over what is not known.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from rackwright.site.reading.judge import Broken, Rule, judge, rules_in

__all__ = ["Broken", "Rule", "broken", "rules"]


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule: the public functions that modules of this package define."""
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    return tuple(rule for module in modules for rule in rules_in(module))


def broken(blocks: Mapping[str, Any]) -> Iterator[Broken]:
    """What the rules have against a site's blocks, given as a mapping that also holds `site` and `catalog`."""
    return (each for _, each in judge(rules(), blocks))
