"""The steps of phase 2's stack: laid on the new hosts alone, and later on all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.platform.stack import PulumiStack, State
from rackwright.rollout.world import Found
from rackwright.rollout.world import State as Step
from rackwright.site.postgresql import Databases

AWAITS, DATABASES, FOUNDING = "awaits", "databases", "postgres_founding"  # as stacks read and show them


@dataclass(frozen=True)
class Lay:
    """`platform/lay`; `awaited` are hosts that phase 1 needs meanwhile."""

    stack: PulumiStack
    awaited: Sequence[str]
    copies_data: bool = False

    def look(self) -> Found:
        """Done where an update has come to its end: only then the stack shows how the platform is reached.

        Refusal where it was laid for databases that the site file does not copy: they may be phase 1's by now.
        """
        found = self.stack.state()
        if found is None or not found.resources:
            return Found(Step.ABSENT, f"the stack {self.stack.name} has nothing")
        if not self.copies_data and (told := self.stack.get(DATABASES)):
            raise Refusal(
                f"rackwright:databases of the stack {self.stack.name} is {told}: it was laid for phase 1's databases, "
                "and rollout.copies_data of the site file is false.",
                "Write it as it was; to have it otherwise, go back with that, and change it then.",
            )
        if is_whole(found):
            return Found(Step.DONE, f"{found.resources} resources")
        return Found(Step.TO_FINISH, f"{found.resources} resources, and no update has come to its end")

    def do(self) -> None:
        """Make the stack, say who is awaited, and bring it up; databases that are copied come with their own step."""
        self.stack.make()
        self.stack.set(AWAITS, ",".join(self.awaited))
        found = self.stack.state()
        if not (found and found.resources):  # what an earlier rollout left set goes as well
            self.stack.set(DATABASES, "awaited" if self.copies_data else "")
        self.stack.up()

    def undo(self) -> None:
        """Take all of it away; phase 1 does not know of it."""
        self.stack.destroy()


@dataclass(frozen=True)
class Registered:
    """Phase 2's databases as its stack has them."""

    stack: PulumiStack

    def founding(self) -> dict[str, Any]:
        """The Cluster that it would register; Refusal where it was laid with databases of its own."""
        found = self.stack.state()
        told = found.outputs.get(FOUNDING) if found else None
        if not told:
            raise Refusal(
                f"The stack {self.stack.name} was laid with databases of its own, and cannot take phase 1's.",
                "Where nobody needs what it holds: pulumi destroy -s phase2; then go on.",
            )
        return dict(told)

    def put(self, databases: Databases) -> None:
        """Set it, and bring the stack there."""
        self.stack.set(DATABASES, "" if databases == "own" else databases)
        self.stack.up()


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
