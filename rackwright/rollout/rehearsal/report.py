"""What a rehearsed rollout came to, for people and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.rollout.journal import Entry
from rackwright.rollout.report import as_json, told
from rackwright.rollout.way import listed

NEVER_SEEN = (
    "Machines are simulated nodes: nothing was provisioned, no GPU, drive or network took part.",
    "Containers do not run: no session moved, no row and no point was copied; pods are ready because that is played.",
    "Shares were watched for a second each, without figures, and nobody stood by for hours.",
    "Secrets were throw-away ones; charts were stand-ins of Rackwright's own.",
)


@dataclass
class Report:
    """One rehearsal: `before` and after it in seconds, the journal, and what was played in it."""

    site: str
    seconds: dict[str, float] = field(default_factory=dict)
    entries: Sequence[Entry] = ()
    played: tuple[str, ...] = ()
    refused: str = ""
    left: tuple[str, ...] = ()
    taken_back: bool = False

    @property
    def succeeded(self) -> bool:
        """True where every step was done, and the share at which a gate failed had been taken back by itself."""
        return not self.refused and not self.left and self.taken_back

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "site": self.site,
            "succeeded": self.succeeded,
            "refused": self.refused,
            "left": list(self.left),
            "taken_back_by_itself": self.taken_back,
            "seconds": {name: round(seconds, 1) for name, seconds in self.seconds.items()},
            "steps": {name: round(seconds, 1) for name, seconds in self._steps()},
            "played": list(self.played),
            "entries": as_json(self.entries),
        }

    def text(self) -> str:
        """For people."""
        steps = dict(self._steps())
        lines = ["The journal", *(f"  {line}" for line in told(self.entries).splitlines())]
        lines += ["", "How long it took", *(f"  {took:6.1f} s  {name}" for name, took in self.seconds.items())]
        lines += [f"  {took:6.1f} s  {name}" for name, took in steps.items() if took >= 1]
        lines += ["", "Played, since it cannot run here", *(f"  {name}" for name in self.played)]
        lines += ["", "What was not seen", *(f"  {line}" for line in NEVER_SEEN)]
        return "\n".join([*lines, "", self._last_word()])

    def _steps(self) -> Iterator[tuple[str, float]]:
        for entry in self.entries:
            if "took_s" in entry.data:
                yield entry.step, float(entry.data["took_s"])

    def _last_word(self) -> str:
        total = f"{sum(self.seconds.values()):.0f} s"
        if self.succeeded:
            return f"{self.site}: the rollout came to its end, and a share was taken back by itself; {total}."
        why = self.refused or (f"left: {listed(self.left)}" if self.left else "no share was taken back by itself")
        return f"{self.site}: the rollout did NOT come to its end: {why}; {total}."
