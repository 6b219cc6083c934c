"""The proof as a whole: every fault of every host, with its cure."""

import inspect
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from rackwright.errors import Refusal
from rackwright.preflight import Finding, Weight, excused, judge
from rackwright.preflight.finding import Fault
from rackwright.preflight.judge import spoken
from rackwright.preflight.seen import NotSeen
from rackwright.preflight.verdict import UNPRINTABLE
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.reading.judge import rules_in
from rackwright.site.site import Site
from rackwright.verify import checks as module
from rackwright.verify.shown import Shown, understood

Check = Callable[..., Iterator[Fault]]
# Preflight asks these for what is to be done; once it is done, they say nothing of the machine.
BEFORE = frozenset({
    "driver can be built", "headers are offered", "logins are quick", "names resolve", "repositories answer",
    "upstream answers", "writes are kept in time",
})  # fmt: skip
WORDS = {Weight.FORBIDS: "wrong", Weight.CHANGES: "wrong", Weight.WARNS: "warns", Weight.UNSEEN: "not seen"}
WIDTH = 118
LONGEST_REASON = 300


@dataclass(frozen=True)
class Proof:
    """What is wrong with the hosts that were asked, and what they did not show."""

    site: str
    phase: Phase
    hosts: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def faults(self) -> tuple[Finding, ...]:
        """What must not be."""
        return tuple(each for each in self.findings if WORDS[each.weight] == "wrong")

    @property
    def succeeded(self) -> bool:
        """True where nothing is wrong."""
        return not self.faults

    def summary(self) -> str:
        """One sentence."""
        hosts = f"{len(self.hosts)} host{'' if len(self.hosts) == 1 else 's'}"
        known = len(self.findings) - len(self.faults)
        end = f"{len(self.faults)} wrong" if self.faults else "as the site says"
        return f"Proof of {self.site}, phase {self.phase}: {hosts} asked, {end}; {known} to know of or not seen."

    def text(self) -> str:
        """The table for people."""
        wide = max((len(host) for host in self.hosts), default=4) + 2
        inset = " " * (wide + 10)
        lines: list[str] = []
        for each in self.findings:
            what, cure = (UNPRINTABLE.sub("?", text) for text in (each.what, each.cure))
            head = f"{each.host:{wide}}{WORDS[each.weight]:10}"
            lines.append(textwrap.fill(f"{what}.", WIDTH, initial_indent=head, subsequent_indent=inset))
            lines.append(textwrap.fill(f"cure: {cure}.", WIDTH, initial_indent=inset, subsequent_indent=inset + "  "))
        return "\n".join([*lines, *([""] if lines else []), self.summary()])

    def as_json(self) -> dict[str, Any]:
        """The proof as plain data."""
        return {
            "succeeded": self.succeeded,
            "site": self.site,
            "phase": self.phase,
            "hosts": list(self.hosts),
            "findings": [
                {
                    "host": each.host,
                    "check": each.check,
                    "kind": WORDS[each.weight],
                    "what": each.what,
                    "cure": each.cure,
                }
                for each in self.findings
            ],
            "summary": self.summary(),
        }


def proof(
    site: Site,
    phase: Phase,
    catalog: Catalog,
    answers: Mapping[str, Any],
    shown: Mapping[str, Any],
    failures: Mapping[str, str],
    secrets: Mapping[str, str] | None = None,
    excuse: Collection[str] = (),
) -> Proof:
    """Judge what hosts answered to preflight's questions and showed beside them; a silent host is wrong.

    Raises Refusal where no host of the phase was asked.
    """
    hosts = tuple(host.name for host in site.hosts_in(phase) if host.name in answers or host.name in failures)
    silent = [_silent(name, failures[name]) for name in hosts if name in failures]
    if not hosts:
        raise Refusal(
            f"No host of phase {phase} of {site.name} was asked, so nothing is proved.",
            f"Its phases: {', '.join(map(str, site.phases))}; look at --limit and at the hosts' phases.",
        )
    asked = {name: answers[name] for name in hosts if name in answers}
    judged = excused(judge(site, phase, catalog, asked, secrets), excuse)
    before = [each for each in judged if each.check not in BEFORE]
    fleet = {name: known for name in asked if (known := understood(shown.get(name))) is not None}
    unknown = [_silent(name, "what it showed has another form") for name in asked if name not in fleet]
    found = [*silent, *unknown, *before, *_findings(site, phase, catalog, fleet)]
    order = {name: number for number, name in enumerate(hosts)}
    weights = list(Weight)
    ranked = sorted(dict.fromkeys(found), key=lambda each: (order.get(each.host, -1), weights.index(each.weight)))
    return Proof(site.name, phase, hosts, tuple(ranked))


def _findings(site: Site, phase: Phase, catalog: Catalog, fleet: Mapping[str, Shown]) -> Iterator[Finding]:
    """Each check on all that it is about: every host, or all of them at once."""
    ground: dict[str, Any] = {"site": site, "phase": phase, "catalog": catalog, "fleet": fleet}
    by_name = {host.name: host for host in site.hosts}
    for check in cast("list[Check]", rules_in(module)):
        wanted = inspect.signature(check).parameters
        cases = (
            {name: ground | {"shown": shown, "host": by_name[name]} for name, shown in fleet.items()}
            if "shown" in wanted
            else {"": ground}
        )
        for name, case in cases.items():
            yield from _asked(check, name, {key: value for key, value in case.items() if key in wanted})


def _asked(check: Check, host: str, case: Mapping[str, Any]) -> Iterator[Finding]:
    try:
        for fault in check(**case):
            yield Finding(fault.host or host, spoken(check), fault.what, fault.cure, fault.weight)
    except NotSeen as unseen:
        yield Finding(host, spoken(check), str(unseen), "Look by hand", Weight.UNSEEN)


def _silent(host: str, reason: str) -> Finding:
    words = " ".join(reason.split())[:LONGEST_REASON].rstrip(".") or "no reason was given"
    return Finding(host, "host answers", f"could not be asked: {words}", "Run preflight on it", Weight.FORBIDS)
