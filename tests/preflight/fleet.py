"""Machines that are as their site says, and ways to break them."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rackwright.preflight import Finding, judge
from rackwright.preflight.answers import Said
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
MACHINES = ROOT / "tests" / "fixtures" / "machines"
BENCH = ("gpu-01", "gpu-02", "gpu-03", "agents-01", "control-01")
TOKEN = "the-token-of-the-vault"
Answers = dict[str, Any]
Change = Callable[[Answers], object]


def answers_of(host: str) -> Answers:
    """What a machine in order answers."""
    return json.loads((MACHINES / f"{host}.json").read_text())


def site_of(host: str, change: Callable[[dict[str, Any]], object] | None = None) -> Site:
    """The site that a machine is of, loaded as always; a changed one is not held against the rules."""
    site = _loaded(ROOT / "inventory" / "workstation" if host == "ws-01" else MACHINES)
    if change is None:
        return site
    data = site.model_dump(mode="json")
    change(data)
    return Site.model_validate(data)


@cache
def _loaded(folder: Path) -> Site:
    return Site.load(folder)


def look(
    change: Mapping[str, Change], site: Callable[[dict[str, Any]], object] | None = None, phase: Phase | None = None
) -> tuple[Finding, ...]:
    """What preflight says of the fleet with some of its machines changed."""
    host = next(iter(change))
    names = (host,) if host == "ws-01" or site else BENCH  # what is changed in the site is changed for all
    answers = {name: answers_of(name) for name in names}
    for name, each in change.items():
        each(answers[name])
    return judge(
        site_of(host, site), phase or (1 if host == "ws-01" else 2), Catalog.load(), answers, {"k3s_token": TOKEN}
    )


def said(out: str, code: int = 0, error: str = "") -> Said:
    """What a command said."""
    return Said(code=code, out=out, error=error)
