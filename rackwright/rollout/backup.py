"""The step `baseline/backup`: everything that holds data is backed up, one backup of each is restored as proof."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from rackwright.rollout.gates import Reading
from rackwright.rollout.world import Found, State

FRESH = timedelta(days=1)
WANTED = "a backup of today was restored, and its rows were counted"


class Part(Protocol):
    """One store. Each of these may be asked again after it was killed half-way."""

    def prove(self) -> str:
        """Back up, restore beside, count, remove; what was found in a clause. Refusal where it is no backup."""

    def is_left(self) -> bool:
        """Whether a restored copy is there, whole or half."""

    def remove(self) -> None:
        """Remove a restored copy."""


@dataclass
class Backup:
    """The proof is of this command: what was proved once says nothing of a later backup."""

    parts: Sequence[Part]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    found: list[str] | None = field(default=None, init=False)
    at: datetime | None = field(default=None, init=False)

    def look(self) -> Found:
        """Done where it was proved by this command, and no copy is left."""
        left = any(part.is_left() for part in self.parts)
        if self.found is not None and not left:
            return Found(State.DONE, "; ".join(self.found))
        return (
            Found(State.TO_UNDO, "a restored copy is left") if left else Found(State.ABSENT, "nothing was restored yet")
        )

    def do(self) -> None:
        """One store after the other."""
        found = [part.prove() for part in self.parts]
        self.found, self.at = found, self.now()

    def undo(self) -> None:
        """Remove restored copies; backups stay."""
        for part in self.parts:
            if part.is_left():
                part.remove()

    def restored(self) -> Reading:
        """The gate `backup-restored` after the step."""
        if self.found is None or self.at is None or self.now() - self.at > FRESH:
            return Reading(False, "none was restored", WANTED)
        return Reading(True, "; ".join(self.found), WANTED)

    def proved(self) -> Reading:
        """The same gate where no step goes before: it is proved now, if it was not today."""
        if not self.restored().passed:
            self.do()
        return self.restored()
