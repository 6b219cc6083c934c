"""Carrying a rollout out: for each step facts, gates, the change, its proof, and words in the journal around it.

Whatever ends it, the same command goes on: a step of which only the beginning is written down is looked at, and what
is found decides whether it is finished, undone or only recorded.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from rackwright.errors import Refusal
from rackwright.rollout.checked import refuse_changed, refuse_overrides, refuse_unbuilt
from rackwright.rollout.journal import Journal
from rackwright.rollout.parts import changed, fingerprints
from rackwright.rollout.plan import Plan
from rackwright.rollout.standing import BEGUN, DONE, Standing
from rackwright.rollout.step import Place, Stage
from rackwright.rollout.taking_back import take_back
from rackwright.rollout.watch import Watch
from rackwright.rollout.world import Found, State, World

Agree = Callable[[Stage, Sequence[Place]], None]


@dataclass
class Runner:
    """One command's run. `agree` refuses where nobody agrees to a stage; `overrides` are gates that may fail.

    `still` refuses, before each step, where the site is no more what this run began with.
    """

    plan: Plan
    world: World
    journal: Journal
    agree: Agree
    progress: Callable[[str], None]
    overrides: frozenset[str] = frozenset()
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    still: Callable[[], None] = lambda: None
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(
            self.plan.gates, self.world, self.journal, self.overrides, self.progress, self.sleep, self.clock
        )

    def run(self, until: str | None = None) -> None:
        """Carry out what is left, up to the end of a stage; Refusal where it cannot go on, with nothing left unsaid."""
        places = self.plan.up_to(until)
        refuse_unbuilt(self.plan, places)
        refuse_overrides(self.plan, self.overrides)
        refuse_changed(self.plan, self._standing())
        self.journal.append("run", until=until or "", overrides=sorted(self.overrides))
        with self.watch.said():
            for stage, steps in groupby(places, key=lambda place: place.stage):
                left = [place for place in steps if not self._is_behind(place)]
                if left:
                    self._stage(stage, left)

    def _stage(self, stage: Stage, left: Sequence[Place]) -> None:
        is_asked = False
        for place in left:
            found = self.world.acts[place.name].look()
            if found.state is State.DONE and self._is_recorded(place):
                self.progress(f"{place.name}: done already")
                continue
            if not is_asked:
                self.agree(stage, left)
                is_asked = True
            self._step(place, found)

    def _step(self, place: Place, found: Found) -> None:
        self.still()
        began = self.clock()
        act = self.world.acts[place.name]
        if found.state is State.TO_UNDO:
            self.progress(f"{place.name}: {found.words or 'half done'}; it is undone first")
            self.journal.append("undoing", place.name, words=found.words)
            act.undo()
            found = act.look()
        if found.state is State.DONE:
            self.journal.append("found", place.name, words=found.words)
        else:
            if found.state is State.ABSENT:
                self.watch.before(place)
            self.journal.append(BEGUN, place.name, inputs=self._inputs(place), found=found.state.value)
            self.progress(f"{place.name}: {place.step.does}")
            act.do()
            found = self._proved(place)
        self._after(place)
        took = round(self.clock() - began, 3)
        self.journal.append(DONE, place.name, inputs=self._inputs(place), words=found.words, took_s=took)

    def _proved(self, place: Place) -> Found:
        found = self.world.acts[place.name].look()
        if found.state is not State.DONE:
            raise Refusal(
                f"{place.name} was carried out, and is {found.state.value}: {found.words or 'no more is known'}.",
                "Look at it yourself; then run the same command again.",
            )
        return found

    def _after(self, place: Place) -> None:
        try:
            self.watch.after(place)
        except Refusal:
            if place.step.takes_itself_back:
                take_back(place, self.world, self.journal, self.progress)
            raise

    def _inputs(self, place: Place) -> dict[str, str]:
        return fingerprints(self.plan.way, (*place.step.reads, *place.step.fixed))

    def _is_behind(self, place: Place) -> bool:
        """True where it needs no look: done with these inputs, and vouched for by what came after.

        Past the point of no return what had a way back before it is behind, whatever changed: phase 1 may be gone.
        """
        standing = self._standing()
        if place.step.back and standing.word(place.name) and standing.point_of_no_return(self.plan.places):
            return True
        return standing.is_passed(place, self.plan.places) and not changed(standing.inputs(place.name), self.plan.way)

    def _is_recorded(self, place: Place) -> bool:
        standing = self._standing()
        same = not changed(standing.inputs(place.name), self.plan.way)
        return standing.word(place.name) == DONE and same

    def _standing(self) -> Standing:
        return Standing.of(self.journal.entries)
