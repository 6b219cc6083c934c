"""The step `no-return/part`: phase 1 follows no more."""

from dataclasses import dataclass, field

from rackwright.rollout.postgres.clusters import ClusterPair
from rackwright.rollout.world import Found, State


@dataclass(frozen=True)
class Part:
    """What made two clusters of the databases one is taken away."""

    pair: ClusterPair

    def look(self) -> Found:
        """Done where nothing of it is left."""
        if self.pair.is_parted():
            return Found(State.DONE, f"{self.pair.second.title} follows nobody, and is followed by nobody")
        return Found(State.ABSENT, f"{self.pair.second.title} and {self.pair.first.title} know of each other")

    def do(self) -> None:
        """Take it away."""
        self.pair.part()

    def undo(self) -> None:
        """Past the point of no return."""


@dataclass
class NothingToPart:
    """The same step of a site whose data were not copied: nothing follows, and its gates are asked all the same."""

    done: bool = field(default=False, init=False)

    def look(self) -> Found:
        """Done where this command has come past it."""
        return Found(State.DONE if self.done else State.ABSENT, "nothing of phase 1 is followed")

    def do(self) -> None:
        """Remember that the gates were asked."""
        self.done = True

    def undo(self) -> None:
        """Past the point of no return."""
