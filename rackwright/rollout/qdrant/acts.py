"""The steps of the collections: `copy/qdrant` and `cut-over/qdrant`."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rackwright.errors import Refusal
from rackwright.rollout.gates import REFUSED_S, Reading
from rackwright.rollout.qdrant.kept import (
    Kept,
    follow,
    held,
    keep,
    lacking,
    limits_come_along,
    refuse_missing_copies,
    refuse_other_releases,
    unequal,
)
from rackwright.rollout.qdrant.operations import Numbers, all_carried_out, operations, written_between
from rackwright.rollout.qdrant.passes import Say
from rackwright.rollout.qdrant.shape import Spread
from rackwright.rollout.qdrant.store import Store, path
from rackwright.rollout.qdrant.switch import SWITCH, Sides, Switch, install, switch, turn
from rackwright.rollout.world import Found, State

SPARE_S = 2.0  # of the pause, for all that is no pass
IN_A_PAUSE_S = REFUSED_S - SPARE_S
SETTLE_S = 0.3  # a request that was let in just before has come to its shard by then
ROUNDS = 2  # of passes before the pause, each over what was written to during the one before


@dataclass
class Copy:
    """Phase 2's store gets every collection of phase 1's, and a switch that lets nobody write yet."""

    old: Store
    new: Store
    spread: Spread
    say: Say

    def look(self) -> Found:
        """Done where nothing is lacking, and where writes went over since."""
        if switch(self.new) is None:
            return Found(State.ABSENT, f"{self.new.name} is no copy of {self.old.name}")
        if switch(self.old) is None:
            return Found(State.TO_FINISH, f"{self.old.name} has no switch for writes yet")
        if Sides.of(self.old, self.new).new.is_open:
            return Found(State.DONE, f"writes went over to {self.new.name} since")
        if missing := lacking(self.old, self.new):
            return Found(State.TO_FINISH, "; ".join(missing))
        return Found(State.DONE, f"{len(held(self.old))} collections are there")

    def do(self) -> None:
        """Make the switches, then bring everything; Refusal where phase 2 holds collections of its own."""
        refuse_other_releases(self.old, self.new)
        if switch(self.new) is None and (others := held(self.new)):
            raise Refusal(
                f"{self.new.name} holds {', '.join(others)}, and is no copy of {self.old.name}.",
                "See whose they are; where nobody needs them, delete them, or set rollout.copies_data: false.",
            )
        install(self.new, Switch(is_open=False, turn=0), self.spread.replication_factor)
        install(self.old, Switch(is_open=True, turn=1), 1)
        if not Sides.of(self.old, self.new).old.is_open:
            raise Refusal(f"{self.old.name} takes no writes.", "Take the cut-over back first.")
        keep(self.old, self.new, self.spread, self.say)

    def undo(self) -> None:
        """Throw the copies away, never of a store that takes writes. Phase 1 keeps its switch: keys are bound to it."""
        found = switch(self.new)
        if found is None:
            return
        if found.is_open or found.turn > (switch(self.old) or found).turn:
            raise Refusal(f"{self.new.name} was written to last.", "Take the cut-over back first.")
        for name in held(self.new):
            self.new.ask("DELETE", path(name))
        self.new.ask("DELETE", path(SWITCH))


@dataclass
class CutOver:
    """Writes pause, the rest is brought, and writes go on at the other side. After a kill the switches decide."""

    old: Store
    new: Store
    there: Spread
    back: Spread
    say: Say
    clock: Callable[[], float] = time.monotonic
    kept: Kept | None = field(default=None, init=False)
    points: int | None = field(default=None, init=False)
    left_at: Numbers | None = field(default=None, init=False)
    refused_s: float | None = field(default=None, init=False)

    def look(self) -> Found:
        """How far it is; while phase 1 was written to last and is shut, it is opened again first."""
        first, second = switch(self.old), switch(self.new)
        if second is None and first is not None and not first.is_open:
            raise Refusal(
                f"{self.old.name} takes no writes, and {self.new.name}, where they may have gone, holds no {SWITCH}.",
                f"Bring back what it held; where that is lost, open {self.old.name} by its point of {SWITCH}.",
            )
        if first is None or second is None:
            return Found(State.ABSENT, "there is no copy yet")
        sides = Sides.of(self.old, self.new)
        if sides.new.is_open:
            return Found(State.DONE, f"{self.new.name} takes writes")
        if sides.old.is_open:
            return Found(State.ABSENT, f"{self.old.name} takes writes")
        last = self.new if sides.new_is_ahead else self.old
        return Found(State.TO_UNDO, f"writes are paused, and {last.name} was written to last")

    def do(self) -> None:
        """Forward: from phase 1 to phase 2."""
        sides = Sides.of(self.old, self.new)
        if not sides.old.is_open:
            raise Refusal(f"{self.old.name} takes no writes.", "Take it back first: what was written last decides.")
        self._swap(self.old, self.new, sides.old, self.there)

    def undo(self) -> None:
        """Back: writes go on in phase 1, with all that phase 2 was told."""
        sides = Sides.of(self.old, self.new)
        if sides.old.is_open:
            return
        if sides.new_is_ahead:
            self._swap(self.new, self.old, sides.new, self.back)
        else:
            turn(self.old, Switch(is_open=True, turn=sides.old.turn))

    def collections_follow(self) -> Reading:
        """The gate before: all is there, and what is written to would be gone through within the pause."""
        self.kept = kept = keep(self.old, self.new, self.there, self.say)  # days of writes may be lacking
        reading = follow(self.old, self.new)
        if not reading.passed:
            return reading
        wanted = f"{reading.wanted}, and a last pass within {IN_A_PAUSE_S:g} s"
        busy = kept.written_since(operations(self.old))
        took = kept.took_s(busy)
        seen = f"{reading.seen}; of {len(busy)} that are written to, a pass takes {took:.1f} s"
        return Reading(took <= IN_A_PAUSE_S, seen, wanted)

    def points_equal(self) -> Reading:
        """The gate after: what was counted in the pause; after a kill, that only equal stores are let go on."""
        wanted = "points equal in both"
        if self.points is None:
            return Reading(True, "counted before it was stopped; only equal stores change places", wanted)
        return Reading(True, f"{self.points} points in {len(held(self.new))} collections equal", wanted)

    def writes_go_on(self) -> Reading:
        """The gate after: how long writes were refused, and that nobody writes to the side that was left."""
        wanted = f"at most {REFUSED_S} s"
        if not Sides.of(self.old, self.new).new.is_open:
            return Reading(False, "writes are refused", wanted)
        if self.refused_s is None:
            return Reading(False, "writes go on; how long they were refused is not known: it was stopped", wanted)
        now = operations(self.old)
        if late := [name for name in now if name != SWITCH and now[name] != (self.left_at or {}).get(name)]:
            return Reading(False, f"{', '.join(late)} of {self.old.name} was written to after the pause", wanted)
        return Reading(self.refused_s <= REFUSED_S, f"writes were refused for {self.refused_s:.1f} s", wanted)

    def _swap(self, source: Store, target: Store, stood: Switch, spread: Spread) -> None:
        """From one to the other. Until the target is opened a fault lets writes go on where they were."""
        refuse_other_releases(source, target)
        kept = self._nearly(source, target, spread)
        began = self.clock()
        if stood.is_open:
            turn(source, Switch(is_open=False, turn=stood.turn))
        try:
            time.sleep(SETTLE_S)
            self._rest(source, target, spread, kept, began)
        except BaseException:
            turn(source, Switch(is_open=True, turn=stood.turn))
            raise
        turn(target, Switch(is_open=True, turn=stood.turn + 1))
        self.refused_s = self.clock() - began

    def _nearly(self, source: Store, target: Store, spread: Spread) -> Kept:
        """Passes while applications write; Refusal where the last one would take longer than a pause may."""
        known, self.kept = self.kept if source is self.old else None, None
        kept = known or keep(source, target, spread, self.say)
        for _ in range(ROUNDS):
            busy = kept.written_since(operations(source))
            if kept.took_s(busy) <= IN_A_PAUSE_S / 2:
                return kept
            again = keep(source, target, spread, self.say, only=busy)
            kept = Kept({**kept.passed, **again.passed}, {**kept.numbers, **again.numbers})
        busy = kept.written_since(operations(source))
        if (took := kept.took_s(busy)) > IN_A_PAUSE_S:
            raise Refusal(
                f"A last pass over {', '.join(busy)} would take about {took:.0f} s, longer than writes may pause.",
                "Stop what writes to the large ones for a while; those that nobody writes to take no time. "
                "Nothing was paused.",
            )
        return kept

    def _rest(self, source: Store, target: Store, spread: Spread, kept: Kept, began: float) -> None:
        """In the pause: the rest is brought; then nobody may have written meanwhile, and points are equal."""
        numbers = all_carried_out(source, held(source))
        busy = [name for name in written_between(kept.numbers, numbers) if name != SWITCH]
        keep(source, target, spread, self.say, only=busy)
        limits_come_along(source, target)
        total, different = unequal(source, target)
        if different:
            raise Refusal(f"Both differ: {'; '.join(different.values())}.", "Writes go on where they were; try again.")
        refuse_missing_copies(target)
        now = all_carried_out(source, held(source))
        if written := [name for name in written_between(numbers, now) if name != SWITCH]:
            raise Refusal(
                f"Somebody writes to {', '.join(written)} of {source.name} though writes are paused.",
                "Give every application the key that the switch turns (application-key), and none the store's own.",
            )
        if (took := self.clock() - began) > REFUSED_S:
            raise Refusal(f"The last pass took {took:.1f} s.", "Writes go on where they were; try at a quieter time.")
        self.points, self.left_at = total, now
