"""A piece of advice, and the figures that it rests on."""

from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["fine", "unseen", "scale", "phase 2", "buy", "disaggregate", "do not disaggregate", "mend"]


@dataclass(frozen=True)
class Rests:
    """One figure that advice rests on, as it was seen or reckoned."""

    name: str
    value: str
    origin: str


@dataclass(frozen=True)
class Advice:
    """What to do about one subject, and why."""

    subject: str
    verdict: Verdict
    what: str
    why: str
    rests_on: tuple[Rests, ...]

    @property
    def calls_for_action(self) -> bool:
        """False where nothing needs to be done."""
        return self.verdict not in ("fine", "do not disaggregate")


def advice_text(advice: list[Advice]) -> str:
    """For a terminal: the verdict, why, and each figure."""
    lines = []
    for each in advice:
        lines += [f"{each.subject}: {each.verdict.upper()}. {each.what}", f"  why: {each.why}"]
        lines += [f"  {rests.name}: {rests.value} ({rests.origin})" for rests in each.rests_on]
    return "\n".join(lines)


def advice_data(advice: list[Advice]) -> list[dict[str, Any]]:
    """The same as plain data."""
    return [
        {
            "subject": each.subject,
            "verdict": each.verdict,
            "what": each.what,
            "why": each.why,
            "rests_on": [vars(rests) for rests in each.rests_on],
        }
        for each in advice
    ]
