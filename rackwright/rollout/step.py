"""What a rollout is made of, as data: stages, and in each of them small steps."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rackwright.site.reading.nearest import match


@dataclass(frozen=True)
class Step:
    """One change that can be looked at, done, proved and, while `back` says how, taken back.

    `does` and `back` are clauses; without a `back` nothing is to be taken back: what it leaves harms nobody. `before`
    and `after` are names of gates. `reads` are parts of the site (parts.py): a step is looked at again where one of
    them has changed since it was done. `fixed` are parts that must not change any more, each with the reason. A step
    with `holds_s` is watched so long by the gates after it.
    """

    name: str
    does: str
    back: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    down: str = ""
    loses: str = ""
    reads: tuple[str, ...] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
    holds_s: int = 0
    takes_itself_back: bool = False
    ends_the_way_back: bool = False

    @property
    def gates(self) -> tuple[str, ...]:
        """Those before it and after it."""
        return (*self.before, *self.after)


@dataclass(frozen=True)
class Stage:
    """Steps that are agreed to together."""

    name: str
    title: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Place:
    """A step where it stands."""

    stage: Stage
    step: Step

    @property
    def name(self) -> str:
        """By which the journal knows it for good."""
        return f"{self.stage.name}/{self.step.name}"


def known(name: str, names: tuple[str, ...], what: str) -> str:
    """The cure where somebody names a stage or a gate that there is not."""
    meant = match(name, names)
    return f"{f'Did you mean {meant}? ' if meant else ''}{what.capitalize()}: {', '.join(names)}."
