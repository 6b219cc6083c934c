"""Reading gates, once or for as long as a step is held, and writing down what was seen beside what is wanted."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from rackwright.errors import Refusal
from rackwright.rollout.gates import Reading
from rackwright.rollout.journal import Journal
from rackwright.rollout.step import Place
from rackwright.rollout.world import World

EVERY_S = 15.0
STOPPED = {KeyboardInterrupt: "it was stopped by hand", SystemExit: "it was ended by a signal"}


@dataclass(frozen=True)
class Watch:
    """The eyes of one run. An override lets a gate fail at one step, the first at which it does, and at no other."""

    wanted: Mapping[str, str]
    world: World
    journal: Journal
    overrides: frozenset[str]
    progress: Callable[[str], None]
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    used: dict[str, str] = field(default_factory=dict)

    def before(self, place: Place) -> None:
        """Read the gates before a step; Refusal at the first that does not pass."""
        for name in place.step.before:
            self._pass(place, name, written=True)

    def after(self, place: Place) -> None:
        """Read the gates after a step, again and again for as long as it is held."""
        end = self.clock() + place.step.holds_s
        for name in place.step.after:
            self._pass(place, name, written=True, waits=place.step.holds_s > 0)
        while (left := end - self.clock()) > 0:
            self.sleep(min(EVERY_S, left))
            is_last = self.clock() >= end
            self.progress(f"{place.name}: watched, {max(0, round(end - self.clock()))} s more")
            for name in place.step.after:
                self._pass(place, name, written=is_last, waits=not is_last)

    @contextmanager
    def said(self) -> Iterator[None]:
        """Write down why a run ends early; of a fault of our own only its kind, since its words may hold anything."""
        try:
            yield
        except BaseException as error:
            why = error.what if isinstance(error, Refusal) else STOPPED.get(type(error), type(error).__name__)
            with suppress(Refusal):  # a journal that cannot be written: the first fault is the one to tell
                self.journal.append("stopped", why=why)
            raise

    def _pass(self, place: Place, name: str, *, written: bool, waits: bool = False) -> None:
        """Let a gate through that passes or may fail; a reading that is only one of many is written where it fails.

        Where it `waits`, nothing that could be seen yet is no fault yet.
        """
        reading = self._read(place, name)
        if waits and reading.is_unseen:
            self.progress(f"{place.name}: {name}: {reading.seen}")
            return
        is_overridden = not reading.passed and name in self.overrides and self._used_for(name, place)
        if written or not reading.passed:
            more = {"overridden": True} if is_overridden else {}
            seen, wanted = reading.seen, reading.wanted
            self.journal.append("gate", place.name, gate=name, passed=reading.passed, seen=seen, wanted=wanted, **more)
        if is_overridden:
            self.progress(f"{place.name}: {name} is overridden: {reading.seen}, wanted {reading.wanted}")
        elif not reading.passed:
            raise Refusal(
                f"{place.name} stops at the gate {name}: {reading.seen}; wanted: {reading.wanted}.",
                f"Mend that and run the same command again, or let it pass by name: --override {name}.",
            )

    def _used_for(self, name: str, place: Place) -> bool:
        return self.used.setdefault(name, place.name) == place.name

    def _read(self, place: Place, name: str) -> Reading:
        """What a gate sees; what cannot be seen does not pass."""
        try:
            return self.world.gate(place, name)()
        except Refusal as refusal:
            return Reading(False, f"not seen: {refusal.what.rstrip('.')}", self.wanted[name])
