"""Every check on every machine that answered; what a machine did not show is a finding as well."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, cast

from rackwright.errors import Refusal
from rackwright.preflight import checks as package
from rackwright.preflight.answers import understand
from rackwright.preflight.finding import Fault, Finding, Weight
from rackwright.preflight.machine import Machine
from rackwright.preflight.seen import NotSeen
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.reading.judge import rules_in
from rackwright.site.site import Site

Check = Callable[..., Iterator[Fault]]
UNSEEN_CURE = "Look by hand, or make it visible and run preflight again"


@cache
def checks() -> tuple[Check, ...]:
    """Every check: the public functions that modules of rackwright.preflight.checks define."""
    modules = (
        importlib.import_module(f"{package.__name__}.{each.name}") for each in pkgutil.iter_modules(package.__path__)
    )
    return tuple(cast("Check", check) for module in modules for check in rules_in(module))


def spoken(check: Check) -> str:
    """A check's name in words."""
    return check.__name__.replace("_", " ")


def judge(
    site: Site, phase: Phase, catalog: Catalog, answers: Mapping[str, Any], secrets: Mapping[str, str] | None = None
) -> tuple[Finding, ...]:
    """What there is to say of the hosts that answered, each answer as plain data by the host's name."""
    findings: list[Finding] = []
    fleet: dict[str, Machine] = {}
    for host in site.hosts:
        if host.name not in answers:
            continue
        try:
            fleet[host.name] = Machine(host, understand(host.name, answers[host.name]))
        except Refusal as refusal:
            what, cure = refusal.what.rstrip("."), refusal.cure.rstrip(".")
            findings.append(Finding(host.name, "host answers", what, cure, Weight.FORBIDS))
    ground = {"site": site, "phase": phase, "catalog": catalog, "fleet": fleet, "secrets": secrets or {}}
    findings += (finding for check in checks() for finding in _findings(check, ground, fleet))
    return _once(findings)


def _findings(check: Check, ground: Mapping[str, Any], fleet: Mapping[str, Machine]) -> Iterator[Finding]:
    """One check on all that it is about: each machine, or all of them at once."""
    wanted = inspect.signature(check).parameters
    shared = {name: value for name, value in ground.items() if name in wanted}
    if "machine" not in wanted:
        yield from _asked(check, "", shared)
        return
    for name, machine in fleet.items():
        yield from _asked(
            check, name, shared | {"machine": machine} | ({"host": machine.host} if "host" in wanted else {})
        )


def _asked(check: Check, host: str, case: dict[str, Any]) -> Iterator[Finding]:
    try:
        for fault in check(**case):
            yield Finding(fault.host or host, spoken(check), fault.what, fault.cure, fault.weight)
    except NotSeen as unseen:
        yield Finding(host, spoken(check), str(unseen), UNSEEN_CURE, Weight.UNSEEN)


def _once(findings: list[Finding]) -> tuple[Finding, ...]:
    """Each thing said once of a host: several checks may miss the same answer."""
    return tuple({(finding.host, finding.what): finding for finding in reversed(findings)}.values())[::-1]
