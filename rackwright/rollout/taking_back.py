"""The way back: what was done, taken back in reverse, as far as the point of no return was not passed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rackwright.errors import Refusal
from rackwright.rollout.checked import refuse_changed
from rackwright.rollout.journal import Journal
from rackwright.rollout.plan import Plan
from rackwright.rollout.standing import TAKEN_BACK, TAKING_BACK, Standing
from rackwright.rollout.step import Place, known
from rackwright.rollout.watch import Watch
from rackwright.rollout.world import State, World

GIVEN_UP = "Phase 1 is given up; go on with rackwright rollout run."


@dataclass(frozen=True)
class Return:
    """Steps to be taken back, the last one first, and what is lost by it."""

    places: tuple[Place, ...]
    losses: tuple[str, ...]

    def text(self) -> str:
        """For people."""
        lines = [f"  {place.name}: {place.step.back or 'nothing is to be taken back'}" for place in self.places]
        lost = "; ".join(self.losses) or "nothing"
        return "\n".join(["Back:", *lines, f"Lost by it: {lost}."])


def the_way_back(plan: Plan, world: World, standing: Standing, to: str | None = None) -> Return:
    """What there is to take back, down to the end of a stage or to the start; facts decide, as far as there are acts.

    Refusal past the point of no return, where there is no such stage, and where the site was changed in what a step
    stands on: a plan that lacks a step would take back what lies under it.
    """
    if to is not None and to not in [stage.name for stage in plan.stages]:
        names = tuple(stage.name for stage in plan.stages)
        raise Refusal(f"There is no stage {to or 'without a name'}.", known(to, names, "stages"))
    if passed := standing.point_of_no_return(plan.places):
        raise Refusal(
            f"The point of no return was passed by {passed.by}, {passed.at} ({passed.step}).",
            GIVEN_UP,
        )
    refuse_changed(plan, standing)
    kept = set() if to is None else {place.name for place in plan.up_to(to)}
    asked = [place for place in reversed(plan.places) if place.name in world.acts and place.name not in kept]
    found, unseen = _there(asked, world, standing)
    if any(place.step.back for place in found):
        if unseen:
            raise unseen  # what cannot be seen may stand on what would be taken away
        if parted := _parted(plan, world):
            raise Refusal(f"The point of no return was passed, and the journal has no word of it: {parted}.", GIVEN_UP)
    return Return(tuple(found), tuple(place.step.loses for place in found if place.step.loses))


def go_back(way_back: Return, world: World, journal: Journal, watch: Watch, progress: Callable[[str], None]) -> None:
    """Take these steps back, and prove each."""
    journal.append("back", steps=[place.name for place in way_back.places])
    with watch.said():
        for place in way_back.places:
            take_back(place, world, journal, progress)


def take_back(place: Place, world: World, journal: Journal, progress: Callable[[str], None]) -> None:
    """Take one step back. What has no way back leaves nothing that harms; it is only to be done anew."""
    act = world.acts[place.name]
    if place.step.back and act.look().state is not State.ABSENT:
        journal.append(TAKING_BACK, place.name)
        progress(f"{place.name}: back: {place.step.back}")
        act.undo()
        found = act.look()
        if found.state is not State.ABSENT:
            raise Refusal(
                f"{place.name} was taken back, and is {found.state.value}: {found.words or 'no more is known'}.",
                "Look at it yourself; then run the same command again.",
            )
    journal.append(TAKEN_BACK, place.name)


def _parted(plan: Plan, world: World) -> str:
    """What shows, whatever a journal says, that the way back was given up; nothing where it is open."""
    ends = (
        world.acts[place.name] for place in plan.places if place.step.ends_the_way_back and place.name in world.acts
    )
    found = (act.look() for act in ends)
    return next((each.words for each in found if each.state is State.DONE), "")


def _there(places: Sequence[Place], world: World, standing: Standing) -> tuple[list[Place], Refusal | None]:
    """Those that there is something of, and the first reason for which one could not be seen."""
    found: list[Place] = []
    unseen: Refusal | None = None
    for place in places:
        try:
            if _is_there(place, world, standing):
                found.append(place)
        except Refusal as refusal:
            unseen = unseen or refusal
    return found, unseen


def _is_there(place: Place, world: World, standing: Standing) -> bool:
    """By facts where there is something to take back, else by the journal."""
    if not place.step.back:
        return bool(standing.word(place.name))
    return bool(standing.word(place.name)) or world.acts[place.name].look().state is not State.ABSENT
