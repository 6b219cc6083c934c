"""Refused before anything is changed: what cannot be carried out yet, and what was begun with other inputs."""

from collections.abc import Collection, Sequence

from rackwright.errors import Refusal
from rackwright.rollout.parts import changed
from rackwright.rollout.plan import Plan
from rackwright.rollout.standing import Standing
from rackwright.rollout.step import Place, known


def refuse_unbuilt(plan: Plan, places: Sequence[Place]) -> None:
    """Refusal where a step on the way cannot be carried out yet: a rollout is not begun to be left half-way."""
    missing = [place for place in places if place.name in plan.not_built]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        whole = _whole_stages(plan, missing[0])
        cure = f"Stop before it: --until {whole[-1]}." if whole else "rackwright rollout plan shows which are."
        raise Refusal(f"{missing[0].name}{more} cannot be carried out yet; nothing was changed.", cure)


def refuse_overrides(plan: Plan, overrides: Collection[str]) -> None:
    """Refusal where a gate that may fail is none."""
    for name in sorted(overrides):
        if name not in plan.gates:
            raise Refusal(f"There is no gate {name or 'without a name'}.", known(name, tuple(plan.gates), "gates"))


def refuse_changed(plan: Plan, standing: Standing) -> None:
    """Refusal where the site was changed in what a step that is done can no more be done otherwise."""
    for place in plan.places:
        if not standing.word(place.name):
            continue
        for part in changed(standing.inputs(place.name), plan.way):
            if reason := place.step.fixed.get(part):
                entry = standing.last[place.name]
                raise Refusal(
                    f"{part} has changed since {place.name} was {entry.event} ({entry.at}), and must not: {reason}.",
                    "Write it as it was; to have it otherwise, rackwright rollout back, and change it then.",
                )


def _whole_stages(plan: Plan, missing: Place) -> list[str]:
    """Stages before the one that has a step which cannot be carried out."""
    found = [stage.name for stage in plan.stages]
    return found[: found.index(missing.stage.name)]
