"""What a check has found, and how that is said."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_SEEN = "not seen"


@dataclass(frozen=True)
class Finding:
    """One thing that a check found: where, what, and its cure where it failed."""

    outcome: Outcome
    where: str
    what: str
    cure: str = ""


@dataclass(frozen=True)
class Checked:
    """A check with all that it found."""

    name: str
    question: str
    findings: tuple[Finding, ...]

    @property
    def outcome(self) -> Outcome:
        """Failed where one finding did; not seen where nothing was seen at all."""
        found = {finding.outcome for finding in self.findings}
        if Outcome.FAILED in found:
            return Outcome.FAILED
        return Outcome.PASSED if Outcome.PASSED in found else Outcome.NOT_SEEN

    def lines(self) -> Iterator[str]:
        """The check for people: what passed in a line, what failed with its cure."""
        yield f"{MARKS[self.outcome]} {self.question}"
        for finding in sorted(self.findings, key=lambda each: ORDER.index(each.outcome)):
            yield f"    {MARKS[finding.outcome]} {finding.where}: {finding.what}"
            if finding.cure:
                yield f"      cure: {finding.cure}"

    def as_json(self) -> dict[str, Any]:
        """The check as plain data."""
        return {
            "name": self.name,
            "question": self.question,
            "outcome": self.outcome.value,
            "findings": [
                {"outcome": each.outcome.value, "where": each.where, "what": each.what, "cure": each.cure}
                for each in self.findings
            ],
        }


MARKS = {Outcome.PASSED: "ok  ", Outcome.FAILED: "FAIL", Outcome.NOT_SEEN: "?   "}
ORDER = (Outcome.FAILED, Outcome.PASSED, Outcome.NOT_SEEN)


def passed(where: str, what: str) -> Finding:
    """Something that is as it should be."""
    return Finding(Outcome.PASSED, where, what)


def failed(where: str, what: str, cure: str) -> Finding:
    """Something that is not as it should be, and what mends it."""
    return Finding(Outcome.FAILED, where, what, cure)


def not_seen(where: str, why: str) -> Finding:
    """Something that this cluster cannot show."""
    return Finding(Outcome.NOT_SEEN, where, why)


def whole(faults: Iterable[Finding], where: str, what: str) -> Iterator[Finding]:
    """The faults; where there is none, one finding that says what passed."""
    found = list(faults)
    yield from found
    if not any(finding.outcome is Outcome.FAILED for finding in found):
        yield passed(where, what)
