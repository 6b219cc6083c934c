"""What a rehearsed rollout came to, for people and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.guests.report import Report as OnGuests
from rackwright.rollout.journal import Entry
from rackwright.rollout.rehearsal.death import Death
from rackwright.rollout.rehearsal.figures import Figures
from rackwright.rollout.report import as_json, told
from rackwright.rollout.way import listed

SIMULATED = "Machines are simulated nodes: nothing was provisioned, no GPU, drive or network took part."
NEVER_SEEN = (
    "Containers do not run: no session moved, and pods are ready because that is played.",
    "Data services run beside the clusters: no port of a node, no certificate and no policy took part, and no backup.",
    "Shares were watched for a second each, without figures, and nobody stood by for hours.",
    "Secrets were throw-away ones; charts were stand-ins of Rackwright's own.",
)


@dataclass
class Report:
    """One rehearsal: metal by phase, its parts in seconds, the journal, what was played, data, a node's death."""

    site: str
    seconds: dict[str, float] = field(default_factory=dict)
    entries: Sequence[Entry] = ()
    played: tuple[str, ...] = ()
    refused: str = ""
    left: tuple[str, ...] = ()
    taken_back: bool = False
    data: Sequence[Figures] = ()
    without: str = ""
    death: Death | None = None
    metal: list[OnGuests] = field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        """Every step was done, a share at which a gate failed taken back by itself, nothing lost, a death survived."""
        return not self._faults()

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "site": self.site,
            "succeeded": self.succeeded,
            "refused": self.refused,
            "left": list(self.left),
            "taken_back_by_itself": self.taken_back,
            "metal": [each.as_json() for each in self.metal],
            "seconds": {name: round(seconds, 1) for name, seconds in self.seconds.items()},
            "steps": {name: round(seconds, 1) for name, seconds in self._steps()},
            "data": [each.as_json() for each in self.data],
            "without": self.without,
            "death": self.death.as_json() if self.death else None,
            "played": list(self.played),
            "entries": as_json(self.entries),
        }

    def text(self) -> str:
        """For people."""
        steps = dict(self._steps())
        lines = [line for each in self.metal for line in (*_on_guests(each), "")]
        if self.entries:
            lines += ["The journal", *(f"  {line}" for line in told(self.entries).splitlines()), ""]
        lines += ["How long it took", *(f"  {took:6.1f} s  {name}" for name, took in self.seconds.items())]
        lines += [f"  {took:6.1f} s  {name}" for name, took in steps.items() if took >= 1]
        lines += ["", "Data, written to all the while", *(f"  {each.words}" for each in self.data)] if self.data else []
        lines += ["", self.without] if self.without else []
        lines += ["", "A node's death", *(f"  {line}" for line in self.death.words)] if self.death else []
        lines += ["", "Played, since it cannot run here", *(f"  {name}" for name in self.played)] if self.played else []
        lines += ["", "What was not seen", *(f"  {line}" for line in (_of_machines(self.metal), *NEVER_SEEN))]
        return "\n".join([*lines, "", self._last_word()])

    def _steps(self) -> Iterator[tuple[str, float]]:
        for entry in self.entries:
            if "took_s" in entry.data:
                yield entry.step, float(entry.data["took_s"])

    def _last_word(self) -> str:
        total = f"{sum(self.seconds.values()):.0f} s"
        if self.succeeded:
            return f"{self.site}: the rollout came to its end, and a share was taken back by itself; {total}."
        return f"{self.site}: the rollout did NOT come to its end: {'; '.join(self._faults())}; {total}."

    def _faults(self) -> list[str]:
        if metal := [f"{each.playbook} did not end well on guests" for each in self.metal if not each.succeeded]:
            return metal
        if self.refused or self.left:
            return [self.refused or f"left: {listed(self.left)}"]
        found = [] if self.taken_back else ["no share was taken back by itself"]
        found += [each.words for each in self.data if not each.well]
        return found + (["; ".join(self.death.words)] if self.death and not self.death.well else [])


def _on_guests(report: OnGuests) -> Iterator[str]:
    yield f"Metal of phase {report.phase}, on guests"
    yield from (f"  {line}" if line else "" for line in report.text().splitlines())


def _of_machines(metal: Sequence[OnGuests]) -> str:
    """What nobody saw of machines: nothing of them at all, or what guests are without."""
    if not metal:
        return SIMULATED
    booted = listed(tuple(f"{name} by {each.playbook}" for each in metal for name in each.cannot_have))
    return (
        f"Both clusters' machines are simulated nodes. What was provisioned are guests, before them ({booted}): "
        "they have no GPU, and no step of the rollout ran on them."
    )
