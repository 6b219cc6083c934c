"""The steps of the databases: `copy/postgresql`, `cut-over/postgresql` and `stand-by/follow`."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rackwright.errors import Refusal
from rackwright.rollout.gates import REFUSED_S, Reading
from rackwright.rollout.postgres.compared import Compared, compare
from rackwright.rollout.postgres.pair import Pair, Sides
from rackwright.rollout.postgres.server import Server, identity, streams
from rackwright.rollout.postgres.writes import close, is_marked, is_open, open_again, refuse_unlogged, replayed
from rackwright.rollout.world import Found, State

FOLLOWS_S, EVERY_S = 60.0, 0.1
FORWARD = ("primary", "follower")


@dataclass
class Copy:
    """Phase 2's server becomes a streaming copy of phase 1's."""

    pair: Pair

    def look(self) -> Found:
        """Done where it streams, and where it was promoted since."""
        pair = self.pair
        if not pair.has_copy():
            return Found(State.ABSENT, f"{pair.new.name} is not there")
        sides = Sides.of(pair)
        if sides == Sides("primary", "primary"):
            what = f"{pair.new.name} is a server of its own, and no copy of {pair.old.name}."
            raise Refusal(what, "See what it holds; where nobody needs that, throw it away, and go on.")
        if sides.new == "primary":
            return Found(State.DONE, f"{pair.new.name} was promoted since")
        is_whole = sides == Sides(*FORWARD) and pair.is_whole()
        if is_whole and identity(pair.old) == identity(pair.new) and streams(pair.new):
            return Found(State.DONE, f"{pair.new.name} streams from {pair.old.name}")
        if sides.old != "primary" and sides.new == "follower" and is_marked(pair.new):
            return Found(State.DONE, f"{pair.new.name} holds everything up to the end of writes")
        return Found(State.TO_FINISH, f"{pair.new.name} is {sides.new}, and does not follow {pair.old.name} yet")

    def do(self) -> None:
        """Copy, and wait until it streams."""
        self.pair.copy()
        _until(lambda: self.look().state is State.DONE, f"{self.pair.new.name} does not stream")

    def undo(self) -> None:
        """Throw the copy away; never one that takes writes."""
        if self.pair.has_copy() and Sides.of(self.pair).new == "primary":
            raise Refusal(f"{self.pair.new.name} takes writes.", "Take the cut-over back first.")
        self.pair.discard()


@dataclass
class CutOver:
    """Writes pause, and go on at the other side. Where it was killed on the way, facts say how to go on.

    Applications are shut out at the side that ends, in its own log, so however it starts again, none writes there.
    """

    pair: Pair
    databases: Sequence[str]
    clock: Callable[[], float] = time.monotonic
    compared: Compared | None = field(default=None, init=False)
    refused_s: float | None = field(default=None, init=False)

    def look(self) -> Found:
        """How far it is; while phase 1 is the primary and writes are paused, they are let go on first."""
        pair, sides = self.pair, Sides.of(self.pair)
        said = f"{pair.old.name} is {sides.old}, {pair.new.name} is {sides.new}"
        if sides.old == "primary":
            if is_open(pair.old, self.databases):
                return Found(State.ABSENT, said)
            return Found(State.TO_UNDO, f"{said}, and writes are paused")
        if sides.new == "primary":
            is_done = is_open(pair.new, self.databases)
            return Found(State.DONE if is_done else State.TO_FINISH, said + ("" if is_done else ", and lets nobody in"))
        if sides.new == "follower" and is_marked(pair.new):
            return Found(State.TO_FINISH, f"{said}, and holds everything up to the end of writes")
        if sides.old == "follower" and is_marked(pair.old):
            return Found(State.TO_UNDO, f"{said}: a way back that was not finished")
        return Found(State.ABSENT, said)

    def do(self) -> None:
        """Forward: from phase 1 to phase 2."""
        sides = Sides.of(self.pair)
        if sides == Sides(*FORWARD):
            self._swap(self.pair.old, self.pair.new)
        elif sides.new == "primary":
            open_again(self.pair.new, self.databases)
        elif sides.new == "follower" and is_marked(self.pair.new):
            self._take_over(self.pair.new)
        else:
            raise self._stuck(sides)

    def undo(self) -> None:
        """Back: writes go on in phase 1, and phase 2 follows it again, with nothing lost that it was told."""
        pair, sides = self.pair, Sides.of(self.pair)
        if sides.new == "follower" and sides.old == "down" and is_marked(pair.new):
            self._take_over(pair.new)
            sides = Sides.of(pair)
        if sides.new == "primary":
            if sides.old == "down":
                pair.follow(pair.old)
                _until(lambda: Sides.of(pair).old == "follower" and streams(pair.old), f"{pair.old.name} is not back")
            self._swap(pair.new, pair.old)
        elif sides.old == "follower" and is_marked(pair.old):
            self._take_over(pair.old)
        elif sides.old == "primary":
            open_again(pair.old, self.databases)
        else:
            raise self._stuck(sides)
        if Sides.of(pair).new == "down":
            pair.follow(pair.new)
            _until(lambda: Sides.of(pair) == Sides(*FORWARD), f"{pair.new.name} does not follow")

    def rows_equal(self) -> Reading:
        """The gate: what was counted in the pause; after a kill, that the log had come to the end of writes."""
        wanted = "rows equal, no sequence behind"
        if self.compared is None:
            return Reading(True, "counted before it was stopped; taken over with the end of writes in its log", wanted)
        return Reading(not self.compared.differing, self.compared.words, wanted)

    def writes_go_on(self) -> Reading:
        """The gate: how long writes were refused."""
        wanted = f"at most {REFUSED_S} s"
        if not is_open(self.pair.new, self.databases):
            return Reading(False, "writes are refused", wanted)
        if self.refused_s is None:
            return Reading(False, "writes go on; how long they were refused is not known: it was stopped", wanted)
        return Reading(self.refused_s <= REFUSED_S, f"writes were refused for {self.refused_s:.1f} s", wanted)

    def _swap(self, primary: Server, follower: Server) -> None:
        """From one to the other. Up to the demotion a fault lets writes go on where they were."""
        refuse_unlogged(primary, self.databases)
        self.pair.prepare()
        began = self.clock()
        try:
            close(primary, self.databases)
            replayed(primary, follower)
            self._compare(primary, follower)
        except BaseException:
            open_again(primary, self.databases)
            raise
        self.pair.demote(primary)
        self._take_over(follower)
        self.refused_s = self.clock() - began

    def _compare(self, primary: Server, follower: Server) -> None:
        self.compared = compare(primary, follower, self.databases)
        if self.compared.differing:
            raise Refusal(f"The copy differs: {self.compared.words}.", "Throw it away and copy anew.")

    def _take_over(self, follower: Server) -> None:
        self.pair.promote(follower)
        open_again(follower, self.databases)

    def _stuck(self, sides: Sides) -> Refusal:
        pair = self.pair
        what = f"{pair.old.name} is {sides.old} and {pair.new.name} is {sides.new}, and neither has the end of writes."
        return Refusal(what, "Bring the one back that took writes last; nothing was promoted.")


@dataclass
class FollowBack:
    """Phase 1's server follows phase 2's, so that the way back stays open."""

    pair: Pair

    def look(self) -> Found:
        """Done where it streams."""
        sides = Sides.of(self.pair)
        is_done = sides == Sides("follower", "primary") and streams(self.pair.old)
        return Found(State.DONE if is_done else State.ABSENT, f"{self.pair.old.name} is {sides.old}")

    def do(self) -> None:
        """Start it."""
        self.pair.follow(self.pair.old)
        _until(lambda: self.look().state is State.DONE, f"{self.pair.old.name} does not follow")

    def undo(self) -> None:
        """Nothing: the cut-over's way back goes over it."""


def _until(look: Callable[[], bool], what: str) -> None:
    """At most half of the time goes into looking: in a cluster, each look starts a dozen programs."""
    began = time.monotonic()
    deadline = began + FOLLOWS_S
    while not look():
        now = time.monotonic()
        if now > deadline:
            raise Refusal(f"{what} after {FOLLOWS_S:g} s.", "See its log; the same command goes on.")
        time.sleep(max(EVERY_S, now - began))
        began = time.monotonic()
