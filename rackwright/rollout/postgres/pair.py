"""Two servers, the old side and the new one: what differs between places, and where both stand."""

from dataclasses import dataclass
from typing import Protocol

from rackwright.errors import Refusal
from rackwright.rollout.gates import LAG_MIB, Reading
from rackwright.rollout.postgres.server import Server, answers, identity, is_follower, position, streams


class Pair(Protocol):
    """What only the place can do: processes and files here, objects of an operator in a cluster.

    Each may be asked again after it was killed half-way. A side that is down was demoted, died, or was never made.
    """

    @property
    def old(self) -> Server:
        """Phase 1's."""

    @property
    def new(self) -> Server:
        """Phase 2's."""

    def has_copy(self) -> bool:
        """Whether the new side holds anything, whole or half, up or down."""

    def is_whole(self) -> bool:
        """Whether nothing is left to be done of the copy, but that it follows."""

    def copy(self) -> None:
        """Make the new side a copy that follows the old one, whatever it is now."""

    def discard(self) -> None:
        """Throw the new side's copy away."""

    def settle(self) -> None:
        """Wait until what each side was told last has come about: before that, what it is says nothing."""

    def prepare(self) -> None:
        """Do beforehand what would take its time out of the pause; both sides are up."""

    def demote(self, side: Server) -> None:
        """End a primary in order, when its follower has everything; whenever it starts again, it follows the other."""

    def promote(self, side: Server) -> None:
        """Make a follower a primary, and wait until it is one."""

    def follow(self, side: Server) -> None:
        """Start one that was demoted."""


@dataclass(frozen=True)
class Sides:
    """What each of the two is at one moment: primary, follower or down."""

    old: str
    new: str

    @classmethod
    def of(cls, pair: Pair) -> "Sides":
        """Ask both; Refusal where both take writes."""
        pair.settle()
        found = cls(_kind(pair.old), _kind(pair.new))
        if found == cls("primary", "primary") and identity(pair.old) == identity(pair.new):
            raise Refusal(
                f"{pair.old.name} and {pair.new.name} both take writes.",
                "Find out which one applications wrote to last, end the other, and make it a copy anew.",
            )
        return found


def lag(pair: Pair) -> Reading:
    """The gate `databases-follow`: whichever follows streams, and lacks little."""
    wanted = f"streams, and lacks at most {LAG_MIB} MiB"
    sides = Sides.of(pair)
    if sorted((sides.old, sides.new)) != ["follower", "primary"]:
        return Reading(False, f"{pair.old.name} is {sides.old}, {pair.new.name} is {sides.new}", wanted)
    primary, follower = (pair.old, pair.new) if sides.old == "primary" else (pair.new, pair.old)
    if not streams(follower):
        return Reading(False, f"{follower.name} is not connected to {primary.name}", wanted)
    mib = max(0, position(primary) - position(follower)) / 2**20
    return Reading(mib <= LAG_MIB, f"{follower.name} streams, and lacks {mib:.1f} MiB", wanted)


def _kind(server: Server) -> str:
    if not answers(server):
        return "down"
    return "follower" if is_follower(server) else "primary"
