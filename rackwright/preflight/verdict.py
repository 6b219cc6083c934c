"""What preflight says at the end: every fault of every host, measured values, and whether to go on."""

import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.errors import Refusal
from rackwright.preflight.excuses import excused
from rackwright.preflight.finding import MEANING, Finding, Weight
from rackwright.preflight.judge import judge
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.site import Site
from rackwright.unanswered import cure

ORDER = tuple(Weight)
COUNTED = {
    Weight.FORBIDS: "forbidding",
    Weight.CHANGES: "to change",
    Weight.WARNS: "to know of",
    Weight.UNSEEN: "not seen",
}
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # a machine's words do not steer a terminal
WIDTH = 118
LONGEST_REASON = 300


@dataclass(frozen=True)
class Verdict:
    """Findings by host, and what was measured on the hosts that answered."""

    site: str
    phase: Phase
    hosts: tuple[str, ...]
    findings: tuple[Finding, ...]
    measured: Mapping[str, Mapping[str, Any]]

    @property
    def succeeded(self) -> bool:
        """True where nothing forbids to go on."""
        return not any(finding.weight is Weight.FORBIDS for finding in self.findings)

    @property
    def forbidden(self) -> tuple[str, ...]:
        """Hosts with which provisioning must not begin."""
        bad = {finding.host for finding in self.findings if finding.weight is Weight.FORBIDS}
        return tuple(host for host in self.hosts if host in bad)

    def text(self) -> str:
        """The table for people."""
        return "\n".join([*self._table(), *self._measured(), self.summary()])

    def summary(self) -> str:
        """One sentence: how many faults of which weight, and what follows."""
        count = Counter(finding.weight for finding in self.findings)
        counted = ", ".join(f"{count[weight]} {COUNTED[weight]}" for weight in Weight if count[weight]) or "no fault"
        bad = len(self.forbidden)
        end = f"{bad} host{' forbids' if bad == 1 else 's forbid'} going on" if bad else "nothing forbids going on"
        hosts = f"{len(self.hosts)} host{'' if len(self.hosts) == 1 else 's'}"
        return f"Preflight of {self.site}, phase {self.phase}: {hosts} asked, {counted}; {end}."

    def as_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "succeeded": self.succeeded,
            "site": self.site,
            "phase": self.phase,
            "hosts": [
                {"name": name, "goes_on": name not in self.forbidden, "answered": name in self.measured}
                | dict(self.measured.get(name, {}))
                for name in self.hosts
            ],
            "findings": [
                {
                    "host": each.host,
                    "check": each.check,
                    "weight": each.weight.value,
                    "what": each.what,
                    "cure": each.cure,
                }
                for each in self.findings
            ],
            "summary": self.summary(),
        }

    def _table(self) -> Iterator[str]:
        wide = max((len(host) for host in self.hosts), default=4) + 2
        inset = " " * (wide + 11)
        for weight in dict.fromkeys(finding.weight for finding in self.findings):
            yield f"{weight}: {MEANING[weight]}"
        if self.findings:
            yield ""
        for finding in self.findings:
            what, cure = (UNPRINTABLE.sub("?", text) for text in (finding.what, finding.cure))
            head = f"{finding.host:{wide}}{finding.weight:11}"
            yield textwrap.fill(f"{what}.", WIDTH, initial_indent=head, subsequent_indent=inset)
            yield textwrap.fill(f"cure: {cure}.", WIDTH, initial_indent=inset, subsequent_indent=inset + "  ")
        if self.findings:
            yield ""

    def _measured(self) -> Iterator[str]:
        for host, values in self.measured.items():
            if values.get("flush_p99_ms") is not None:
                yield (
                    f"{host}: a small write is kept in {values['flush_p99_ms']:.2f} ms at P99 "
                    f"(by {values['flush_tool']}, in {values['flush_folder']})"
                )


def verdict(
    site: Site,
    phase: Phase,
    catalog: Catalog,
    answers: Mapping[str, Any],
    failures: Mapping[str, str],
    secrets: Mapping[str, str] | None = None,
    excuse: Collection[str] = (),
) -> Verdict:
    """The verdict on hosts that answered, by plain data, and on those that could not be asked, by the reason.

    Raises Refusal where no host of the phase was asked.
    """
    hosts = tuple(host.name for host in site.hosts_in(phase) if host.name in answers or host.name in failures)
    if not hosts:
        raise Refusal(
            f"No host of phase {phase} of {site.name} was asked.",
            f"Its phases: {', '.join(map(str, site.phases))}; look at --limit and at the hosts' phases.",
        )
    asked = {name: answers[name] for name in hosts if name in answers}
    silent = [_silent(name, failures[name]) for name in hosts if name in failures]
    found = (*silent, *excused(judge(site, phase, catalog, asked, secrets), excuse))
    place = {name: number for number, name in enumerate(hosts)}
    ordered = sorted(found, key=lambda each: (place.get(each.host, -1), ORDER.index(each.weight)))
    return Verdict(site.name, phase, hosts, tuple(ordered), {name: _values(data) for name, data in asked.items()})


def _silent(host: str, reason: str) -> Finding:
    """What is said of a host that could not be asked."""
    words = " ".join(reason.split())[:LONGEST_REASON].rstrip(".") or "no reason was given"
    return Finding(host, "host answers", f"could not be asked: {words}", cure(words), Weight.FORBIDS)


def _values(data: Any) -> dict[str, Any]:
    """What was measured, out of an answer that may have any form."""
    flush = data.get("flush") if isinstance(data, dict) else None
    known = flush if isinstance(flush, dict) else {}
    p99, seconds = known.get("p99_ms"), data.get("seconds") if isinstance(data, dict) else None
    return {
        "seconds": seconds if isinstance(seconds, (int, float)) else None,
        "flush_p99_ms": p99 if isinstance(p99, (int, float)) else None,
        "flush_tool": str(known.get("tool", "")),
        "flush_folder": str(known.get("folder", "")),
    }
