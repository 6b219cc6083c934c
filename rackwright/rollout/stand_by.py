"""The step `stand-by/wait`: hours on phase 2 with phase 1 ready to take over again, and the gate that judges them.

When it began is the journal's memory, since nothing else remembers it; where that is lost, the hours begin anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.observe.prometheus import Prometheus
from rackwright.rollout import journal
from rackwright.rollout.gates import Reading
from rackwright.rollout.standing import DONE, Standing
from rackwright.rollout.way import Way
from rackwright.rollout.world import Found, State

SINCE = "cut-over/door"
HOUR_S = 3600
ALWAYS = "Watchdog|InfoInhibitor"  # fire as long as all is well


@dataclass(frozen=True)
class StandBy:
    """`prometheus` is phase 2's own."""

    folder: Path
    way: Way
    prometheus: Prometheus
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def look(self) -> Found:
        """Done where the hours have passed."""
        hours, wanted = self._hours(), self.way.settings.stand_by_h
        said = f"{max(hours, 0):.1f} of {wanted} hours on phase 2"
        return Found(State.DONE if hours >= wanted else State.ABSENT, said)

    def do(self) -> None:
        """Nobody waits at a terminal for a day: Refusal that says when to come again."""
        left = self.way.settings.stand_by_h - max(self._hours(), 0)
        if left > 0:
            raise Refusal(
                f"{left:.1f} of {self.way.settings.stand_by_h} hours of standing by are left.",
                "Run the same command again then. Until that, back takes everything back.",
            )

    def undo(self) -> None:
        """Nothing."""

    def stood_by(self) -> Reading:
        """The gate `stood-by`: the hours, and no alert in them."""
        hours, wanted = self._hours(), self.way.settings.stand_by_h
        if hours < wanted:
            return Reading(False, f"{max(hours, 0):.1f} hours", f"{wanted} hours without an alert")
        seconds = max(60, round(min(hours, max(wanted, 1)) * HOUR_S))
        fired = self._fired(seconds)
        said = f"{hours:.1f} hours, {', '.join(fired) or 'no alert'} in the last {seconds / HOUR_S:.1f}"
        return Reading(not fired, said, f"{wanted} hours without an alert")

    def _fired(self, seconds: int) -> Sequence[str]:
        series = f'count_over_time(ALERTS{{alertstate="firing",alertname!~"{ALWAYS}"}}[{seconds}s])'
        found = self.prometheus.query(f"sum by (alertname) ({series})")
        return sorted({each["metric"].get("alertname", "") for each in found})

    def _hours(self) -> float:
        """Since the door's name moved; below 0 where it has not, or the clock was set back."""
        standing = Standing.of(journal.read(self.folder, self.way.site.name))
        if standing.word(SINCE) != DONE:
            return -1.0
        return (self.now() - datetime.fromisoformat(standing.last[SINCE].at)).total_seconds() / HOUR_S
