"""The steps of traffic: so many percent of sessions go on to phase 2's door, or fewer again."""

from dataclasses import dataclass
from typing import Protocol

from rackwright.rollout.world import Found, State


@dataclass(frozen=True)
class Shares:
    """Percent that go on, as proxies really run: the least and the most of any; they differ while they are replaced."""

    least: int
    most: int


class Door(Protocol):
    """Phase 1's door."""

    def shares(self) -> Shares:
        """What its proxies do now."""

    def put(self, percent: int) -> None:
        """Have all proxies do so, each after its last answer, and wait until all of them do."""


@dataclass(frozen=True)
class Share:
    """One step: from one share to the next."""

    door: Door
    before: int
    percent: int

    def look(self) -> Found:
        """Done where every proxy sends on so many, or more: later steps go beyond this one."""
        found = self.door.shares()
        said = f"{found.least} % go on" if found.least == found.most else f"{found.least} to {found.most} % go on"
        if found.least >= self.percent:
            return Found(State.DONE, said)
        return Found(State.TO_FINISH if found.most > self.before else State.ABSENT, said)

    def do(self) -> None:
        """More of them."""
        self.door.put(self.percent)

    def undo(self) -> None:
        """As many as before."""
        self.door.put(self.before)


def shares(door: Door, weights: tuple[int, ...]) -> dict[str, Share]:
    """The acts of a site's weights, by their steps' names."""
    return {
        f"traffic/share-{weight}": Share(door, before, weight)
        for before, weight in zip((0, *weights), weights, strict=False)
    }
