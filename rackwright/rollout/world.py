"""What a rollout needs of the world: for each step an act that can be looked at, and for each gate a reading."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from rackwright.rollout.gates import Gate
from rackwright.rollout.step import Place


class State(Enum):
    """How far a step is, as facts show it; of one that is half done they decide which way it goes on."""

    ABSENT = "absent"
    TO_FINISH = "half done, to be finished"
    TO_UNDO = "half done, to be undone first"
    DONE = "done"


@dataclass(frozen=True)
class Found:
    """What a look found, in a clause without secrets."""

    state: State
    words: str = ""


class Act(Protocol):
    """What carries a step out. Each of the three may be killed at any point and asked again."""

    def look(self) -> Found:
        """How far it is; changes nothing, and asks the world rather than any memory."""

    def do(self) -> None:
        """From absent or half done to done."""

    def undo(self) -> None:
        """From done or half done to absent."""


@dataclass(frozen=True)
class World:
    """Acts by their step's name. Gates by name, or by `step gate` where one step reads a gate in its own way."""

    acts: Mapping[str, Act] = field(default_factory=dict)
    gates: Mapping[str, Gate] = field(default_factory=dict)

    def gate(self, place: Place, name: str) -> Gate:
        """How a step reads a gate."""
        return self.gates.get(f"{place.name} {name}") or self.gates[name]

    def built(self, places: Iterable[Place]) -> tuple[str, ...]:
        """Steps that can be carried out: they have an act, and each of their gates can be read."""
        return tuple(place.name for place in places if place.name in self.acts and not self._unread(place))

    def _unread(self, place: Place) -> list[str]:
        return [
            name for name in place.step.gates if name not in self.gates and f"{place.name} {name}" not in self.gates
        ]
