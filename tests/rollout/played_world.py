"""A world of plain files that plays one: a stand-in for machines, clusters and data, which shows every effect it had.

The world is one file of words, "half X", "done X", "undone X", each written in one piece. What a step is follows from
its last word, so an effect and the memory of it cannot come apart, and an effect that came twice is seen.
"""

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

from rackwright.rollout.gates import Reading
from rackwright.rollout.journal import Journal, read
from rackwright.rollout.plan import Plan, plan
from rackwright.rollout.runner import Runner
from rackwright.rollout.standing import Standing
from rackwright.rollout.taking_back import go_back, the_way_back
from rackwright.rollout.world import Found, State, World
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Clock:
    """Time that passes only where somebody waits."""

    now: float = 0.0

    def sleep(self, seconds):
        self.now += seconds

    def __call__(self):
        return self.now


@dataclass
class Ticks:
    """Counts the moments at which a process may be killed, and kills it at one."""

    at: int | None = None
    number: int = signal.SIGKILL
    count: int = 0

    def __call__(self):
        self.count += 1
        if self.count == self.at:
            os.kill(os.getpid(), self.number)


class TickedJournal(Journal):
    """May be killed before each line and after it."""

    ticks = Ticks()

    def append(self, *words, **data):
        self.ticks()
        entry = super().append(*words, **data)
        self.ticks()
        return entry


@dataclass
class PlayedAct:
    world: "PlayedWorld"
    name: str

    def look(self):
        word = self.world.word(self.name)
        half = State.TO_UNDO if self.world.undoes(self.name) else State.TO_FINISH
        return Found({"done": State.DONE, "half": half}.get(word, State.ABSENT), f"the file says {word or 'nothing'}")

    def do(self):
        assert self.world.word(self.name) != "done", f"{self.name} would have its effect twice"
        self.world.say("half", self.name)
        if self.name in self.world.breaks:
            raise self.world.breaks[self.name]
        self.world.say("done", self.name)

    def undo(self):
        self.world.say("half", self.name)
        self.world.say("undone", self.name)


PLANS: dict[tuple[int, tuple[str, ...]], tuple[Site, Plan]] = {}


def planned(site: Site, built: tuple[str, ...] = ()) -> Plan:
    """A plan of a site, reckoned once: it took nine tenths of what thousands of played runs take."""
    key = (id(site), built)
    if key not in PLANS:
        PLANS[key] = (site, plan(site, built))  # whoever is kept here keeps its number
    return PLANS[key][1]


@dataclass
class PlayedWorld:
    """A site's folder with its journal and its played world."""

    folder: Path
    site: Site
    ticks: Ticks = field(default_factory=Ticks)
    clock: Clock = field(default_factory=Clock)
    failing: set[str] = field(default_factory=set)
    without: frozenset[str] = frozenset()
    breaks: dict[str, BaseException] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def plan(self) -> Plan:
        places = planned(self.site).places
        return planned(self.site, self.world.built(places))

    @property
    def world(self) -> World:
        unbuilt = planned(self.site)
        acts = {place.name: PlayedAct(self, place.name) for place in unbuilt.places if place.name not in self.without}
        named = {(f"{place.name} {gate}", gate) for place in unbuilt.places for gate in place.step.gates}
        return World(acts, {key: self.gate(key, gate) for key, gate in named})

    def gate(self, key, name):
        """Fails where it is said to, by its name or for one step alone."""

        def read():
            passed = not {key, name} & self.failing
            return Reading(passed, f"{name} is {'well' if passed else 'worse than 17.5'}", "well")

        return read

    def undoes(self, name) -> bool:
        """Half done, every other step is finished, and the rest undone first."""
        return sum(name.encode()) % 2 == 0

    def lines(self) -> list[str]:
        file = self.folder / "world"
        return file.read_text().splitlines() if file.exists() else []

    def word(self, name) -> str:
        return next((line.split()[0] for line in reversed(self.lines()) if line.split()[1] == name), "")

    def say(self, word, name):
        self.ticks()
        with (self.folder / "world").open("a") as file:
            file.write(f"{word} {name}\n")
        self.ticks()

    def done(self) -> list[str]:
        return [place.name for place in self.plan.places if self.word(place.name) == "done"]

    def twice(self) -> list[str]:
        """Steps that were done while they were done."""
        found, now = [], set()
        for word, name in (line.split() for line in self.lines()):
            if word == "done" and name in now:
                found.append(name)
            (now.add if word == "done" else now.discard)(name)
        return found

    def journal(self) -> TickedJournal:
        journal = TickedJournal(self.folder)
        journal.ticks = self.ticks
        return journal

    def runner(self, overrides=()) -> Runner:
        return Runner(
            self.plan, self.world, self.journal(), lambda stage, _: self.asked.append(stage.name), self.said.append,
            frozenset(overrides), self.clock.sleep, self.clock,
        )  # fmt: skip

    def run(self, until=None, overrides=()):
        self.runner(overrides).run(until)

    def back(self, to=None):
        runner = self.runner()
        way_back = the_way_back(self.plan, self.world, Standing.of(runner.journal.entries), to)
        go_back(way_back, self.world, runner.journal, runner.watch, self.said.append)
        return way_back


def lab() -> Site:
    return Site.load(ROOT / "inventory" / "lab")


def edited(world, old, new):
    """Its site file is another one from here on."""
    file = world.folder / "site.yml"
    if not file.exists():
        file.write_text((ROOT / "inventory" / "lab" / "site.yml").read_text())
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    world.site = type(world.site).load(file)


def in_child(act) -> int:
    """Do it in a process of its own; its exit code, or minus the signal that killed it."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            act()
            code = 0
        except KeyboardInterrupt:
            code = 130
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def events(world: PlayedWorld, *kinds: str) -> list[tuple[str, str]]:
    """What the journal says of some kinds, in order: the event and its step."""
    return [(entry.event, entry.step) for entry in read(world.folder) if entry.event in kinds]
