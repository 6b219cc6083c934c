"""Steps and gates that no rehearsal can carry out: they are remembered, so that order and ways back are real."""

from collections.abc import Callable
from dataclasses import dataclass, field

from rackwright.rollout.gates import Reading
from rackwright.rollout.world import Found, State


@dataclass
class PlayedAct:
    """A step that changes nothing but what is remembered of it."""

    done: bool = field(default=False, init=False)

    def look(self) -> Found:
        """What is remembered."""
        return Found(State.DONE if self.done else State.ABSENT, "played")

    def do(self) -> None:
        """Remember it."""
        self.done = True

    def undo(self) -> None:
        """Forget it."""
        self.done = False


@dataclass(frozen=True)
class Simulated:
    """A step on machines that are simulated nodes: `there` says whether it shows, the others do and undo it."""

    there: Callable[[], bool]
    doing: Callable[[], None]
    undoing: Callable[[], None] = lambda: None

    def look(self) -> Found:
        """By the cluster's own nodes."""
        return Found(State.DONE if self.there() else State.ABSENT, "simulated machines")

    def do(self) -> None:
        """Have it so."""
        self.doing()

    def undo(self) -> None:
        """Have it otherwise."""
        self.undoing()


@dataclass
class PlayedGate:
    """A gate that nobody can read here: it passes, but for the first times that it is told to fail."""

    fails: int = 0

    def __call__(self) -> Reading:
        """Played."""
        if self.fails:
            self.fails -= 1
            return Reading(False, "a fault, played", "none")
        return Reading(True, "played", "what a live site would show")
