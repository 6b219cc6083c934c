"""The steps of phase 2's stack: laid on the new hosts alone, and later on all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.rollout.platform.stack import PulumiStack, State
from rackwright.rollout.world import Found
from rackwright.rollout.world import State as Step

AWAITS = "awaits"  # as stacks/given.py reads and shows it


@dataclass(frozen=True)
class Lay:
    """`platform/lay`; `awaited` are hosts that phase 1 needs meanwhile."""

    stack: PulumiStack
    awaited: Sequence[str]

    def look(self) -> Found:
        """Done where an update has come to its end: only then the stack shows how the platform is reached."""
        found = self.stack.state()
        if found is None or not found.resources:
            return Found(Step.ABSENT, f"the stack {self.stack.name} has nothing")
        if is_whole(found):
            return Found(Step.DONE, f"{found.resources} resources")
        return Found(Step.TO_FINISH, f"{found.resources} resources, and no update has come to its end")

    def do(self) -> None:
        """Make the stack, say who is awaited, and bring it up."""
        self.stack.make()
        self.stack.set(AWAITS, ",".join(self.awaited))
        self.stack.up()

    def undo(self) -> None:
        """Take all of it away; phase 1 does not know of it."""
        self.stack.destroy()


@dataclass(frozen=True)
class Scale:
    """`no-return/scale`: nobody is awaited any more."""

    stack: PulumiStack

    def look(self) -> Found:
        """Done where the last update that came to its end awaited nobody."""
        found = self.stack.state()
        if found is None or not is_whole(found):
            return Found(Step.ABSENT, f"the stack {self.stack.name} is not up")
        awaited = found.outputs.get(AWAITS) or []
        if awaited:
            return Found(Step.ABSENT, f"it is up without {', '.join(map(str, awaited))}")
        return Found(Step.DONE, f"{found.resources} resources, on all hosts")

    def do(self) -> None:
        """Await nobody, and bring it up."""
        self.stack.set(AWAITS, "")
        self.stack.up()

    def undo(self) -> None:
        """Past the point of no return."""


def is_whole(found: State) -> bool:
    """True where no update is half-way."""
    return "gateway" in found.outputs and not found.pending
