"""Checks that somebody excused beforehand: a guest that plays a server has no GPU, and is none the worse for it."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from rackwright.errors import Refusal
from rackwright.preflight.finding import Finding, Weight
from rackwright.preflight.judge import checks, spoken
from rackwright.site.reading.nearest import nearest

CURE = "None: the check was excused (excused_checks)"


def excused(findings: Iterable[Finding], names: Collection[str]) -> Iterator[Finding]:
    """The findings, of which those of excused checks are told and count as not seen; Refusal for what is no check."""
    known = [spoken(check) for check in checks()]
    for name in names:
        if name not in known:
            raise Refusal(f"excused_checks names {name}, and there is no such check.", f"{nearest(name, known)}.")
    for each in findings:
        yield replace(each, weight=Weight.UNSEEN, cure=CURE) if each.check in names else each
