"""The plan: the list of stages and steps for a site, and what of it can be carried out yet."""

import textwrap
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.gates import gates
from rackwright.rollout.stages import stages
from rackwright.rollout.step import Place, Stage, Step, known
from rackwright.rollout.way import Way, listed, names, way
from rackwright.site.site import Site

WIDTH = 118
INSET = "     "


@dataclass(frozen=True)
class Plan:
    """The whole way of one site; `not_built` are steps that nothing carries out yet."""

    way: Way
    stages: tuple[Stage, ...]
    gates: Mapping[str, str]
    not_built: tuple[str, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        """All steps in order."""
        return tuple(Place(stage, step) for stage in self.stages for step in stage.steps)

    def up_to(self, until: str | None) -> tuple[Place, ...]:
        """Steps up to the end of a stage, or all; Refusal where there is no such stage."""
        found = tuple(stage.name for stage in self.stages)
        if until is None:
            return self.places
        if until not in found:
            raise Refusal(f"There is no stage {until or 'without a name'}.", known(until, found, "stages"))
        last = found.index(until)
        return tuple(place for place in self.places if found.index(place.stage.name) <= last)

    def text(self) -> str:
        """The plan for people."""
        way, total = self.way, len(self.places)
        head = (
            f"Rollout of {way.site.name}: from phase 1 on {listed(names(way.old))} to phase 2 on "
            f"{listed(names(way.new))}; {total} steps"
            f"{f', {len(self.not_built)} of them not built' if self.not_built else ''}."
        )
        return "\n".join([_filled(head), *self._stages(), *(_filled(f"Know: {each}.") for each in way.warnings)])

    def as_json(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {
            "site": self.way.site.name,
            "old": list(names(self.way.old)),
            "new": list(names(self.way.new)),
            "joining": list(names(self.way.joining)),
            "models": list(self.way.moving),
            "stages": [
                {"name": stage.name, "title": stage.title, "steps": [self._data(stage, step) for step in stage.steps]}
                for stage in self.stages
            ],
            "warnings": list(self.way.warnings),
        }

    def _data(self, stage: Stage, step: Step) -> dict[str, Any]:
        name = Place(stage, step).name
        return {
            "name": name,
            "does": step.does,
            "before": {gate: self.gates[gate] for gate in step.before},
            "after": {gate: self.gates[gate] for gate in step.after},
            "back": step.back,
            "loses": step.loses,
            "down": step.down,
            "holds_s": step.holds_s,
            "ends_the_way_back": step.ends_the_way_back,
            "built": name not in self.not_built,
        }

    def _stages(self) -> Iterator[str]:
        past = False
        for number, stage in enumerate(self.stages, 1):
            yield f"\n{number:2}  {stage.name}: {stage.title}"
            for step in stage.steps:
                if step.ends_the_way_back:
                    yield f"{INSET}---- the point of no return ----"
                past = past or step.ends_the_way_back
                yield from self._step(Place(stage, step), past=past)
        yield ""

    def _step(self, place: Place, *, past: bool) -> Iterator[str]:
        step = place.step
        yield _filled(f"    {place.name}{' (not built)' if place.name in self.not_built else ''}: {step.does}.")
        for title, found in (("Before", step.before), ("After", step.after)):
            if found:
                yield _filled(f"{INSET}   {title}: {'; '.join(self.gates[gate] for gate in found)}.")
        if step.down:
            yield _filled(f"{INSET}   Down meanwhile: {step.down}.")
        yield _filled(f"{INSET}   Back: {'none' if past else step.back or 'nothing is to be taken back'}.")
        if step.loses:
            yield _filled(f"{INSET}   Going back loses {step.loses}.")


def plan(site: Site, built: Collection[str] = ()) -> Plan:
    """The plan of a site, `built` being the steps that can be carried out; Refusal where the site has no such way."""
    found = way(site)
    listed_stages = stages(found)
    places = [Place(stage, step).name for stage in listed_stages for step in stage.steps]
    return Plan(found, listed_stages, gates(found), tuple(name for name in places if name not in built))


def _filled(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent=f"{INSET}     ", break_on_hyphens=False)
