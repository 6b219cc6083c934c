"""The steps that lay a load on a door: `baseline/figures`, `proof/load` and `report/figures`.

The load is the same each time: so many sessions at once as the site's workload has people and agents, but few enough
that those who are served meanwhile do not notice. It is laid by `rackwright bench`, and kept by `rackwright baseline`.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rackwright.errors import Refusal
from rackwright.observe import baseline
from rackwright.observe.baseline import ModelBaseline
from rackwright.rollout.commands import run
from rackwright.rollout.gates import WORSE, Reading
from rackwright.rollout.world import Found, State
from rackwright.site.site import Site

MOST_AT_ONCE = 16
SECONDS, WARM_UP_S = 120, 20
FRESH = timedelta(days=1)
KEY = "RACKWRIGHT_BENCH_KEY"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Door:
    """A phase's door, e.g. https://10.30.0.11:443; `authority` holds who signed its certificate."""

    name: str
    address: str
    authority: Path | None
    key: str = field(repr=False)

    def of(self, model: str) -> str:
        """Where a model answers."""
        return f"{self.address.rstrip('/')}/{model}/v1"


@dataclass(frozen=True)
class Bench:
    """The load of one site, in the folder of its file."""

    site: Site
    folder: Path
    say: Say
    seconds: int = SECONDS
    warm_up_s: int = WARM_UP_S

    @property
    def at_once(self) -> int:
        """Sessions."""
        return max(1, min(MOST_AT_ONCE, self.site.workload.users + self.site.workload.agents))

    @property
    def trace(self) -> str:
        """What most of them are."""
        return "agent" if self.site.workload.agents > self.site.workload.users else "chat"

    def lay(self, door: Door, model: str, out: Path) -> dict[str, Any]:
        """What came of it, as `bench --json` tells it; Refusal where nothing was answered."""
        self.say(f"{model}: {self.at_once} sessions at once on {door.name}'s door, for {self.seconds} s")
        options = ["--model", model, "--site", self.folder, "--trace", self.trace, "--sessions", self.at_once]
        options += [
            "--seconds",
            self.seconds,
            "--warm-up",
            self.warm_up_s,
            "--key-variable",
            KEY,
            "--out",
            out,
            "--json",
        ]
        options += ["--authority", door.authority] if door.authority else []
        environment = os.environ | {KEY: door.key}
        said = run([*_rackwright("bench", door.of(model)), *map(str, options)], self.folder, environment)
        found: dict[str, Any] = json.loads(said)
        return found

    def record(self, out: Path) -> None:
        """Keep it beside the site's file."""
        run([*_rackwright("baseline", self.folder), "--bench", str(out)], self.folder)

    def kept(self, door: Door, model: str) -> ModelBaseline | None:
        """What was kept of this very load on that door."""
        found = baseline.load(self.folder)
        for each in found.models if found else ():
            if each.model == model and each.source.endswith(f"{self.at_once} at once, {door.of(model)}"):
                return each
        return None


@dataclass
class Figures:
    """Every model under the load, and its figures kept; what is a day old is measured anew."""

    bench: Bench
    door: Door
    models: Sequence[str]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def look(self) -> Found:
        """Done where none is lacking or old."""
        missing = [model for model in self.models if not self._is_fresh(model)]
        if not missing:
            return Found(State.DONE, f"figures of {len(self.models)} models are kept")
        state = State.ABSENT if len(missing) == len(self.models) else State.TO_FINISH
        return Found(state, f"no figures of today for {', '.join(missing)}")

    def do(self) -> None:
        """One after the other."""
        with tempfile.TemporaryDirectory() as folder:
            for model in self.models:
                if not self._is_fresh(model):
                    out = Path(folder, f"{model}.json")
                    self.bench.lay(self.door, model, out)
                    self.bench.record(out)

    def undo(self) -> None:
        """Nothing: figures harm nobody."""

    def recorded(self) -> Reading:
        """The gate `baseline-recorded`."""
        found = self.look()
        return Reading(
            found.state is State.DONE, found.words, f"figures of {len(self.models)} models, of one day at most"
        )

    def _is_fresh(self, model: str) -> bool:
        found = self.bench.kept(self.door, model)
        if found is None or not found.recorded:
            return False
        age = self.now() - datetime.fromisoformat(found.recorded)
        return timedelta(minutes=-1) <= age <= FRESH


@dataclass
class Load:
    """The load of the baseline on the other door. Answers are compared by this very command, and not kept."""

    bench: Bench
    first: Door
    second: Door
    models: Sequence[str]
    found: dict[str, dict[str, Any]] | None = field(default=None, init=False)

    def look(self) -> Found:
        """Done where it was laid by this command."""
        return Found(State.ABSENT, "not laid yet") if self.found is None else Found(State.DONE, "laid")

    def do(self) -> None:
        """Lay it; Refusal where there is nothing to compare with."""
        for model in self.models:
            if self.bench.kept(self.first, model) is None:
                raise Refusal(f"No figures of {model} are kept.", "The stage baseline records them; run it again.")
        with tempfile.TemporaryDirectory() as folder:
            self.found = {model: self.bench.lay(self.second, model, Path(folder, model)) for model in self.models}

    def undo(self) -> None:
        """Nothing."""

    def carried(self) -> Reading:
        """The gate `load-carried`: each figure against the baseline's, the worst told."""
        wanted = f"P95 and calls a second at most {WORSE:g} times worse, no call failed"
        if self.found is None:
            return Reading(False, "not laid yet", wanted)
        worst, said, failed = 0.0, "nothing to compare", []
        for model, seen in self.found.items():
            failed += [f"{model}: {number} times {why}" for why, number in seen["failed"].items()]
            for factor, words in _compared(model, seen, self.bench.kept(self.first, model)):
                if factor >= worst:
                    worst, said = factor, f"{words}, {factor:.2f} times"
        return Reading(not failed and 0 < worst <= WORSE, "; ".join([said, *failed]), wanted)


def _compared(model: str, seen: dict[str, Any], kept: ModelBaseline | None) -> list[tuple[float, str]]:
    """How many times worse each figure is, with its words; more than 1 is worse."""
    if kept is None:
        return []
    found = []
    for name, title in (("ttft_ms", "first token"), ("tpot_ms", "further token"), ("e2e_ms", "call")):
        before, now = getattr(kept, name), seen[name]
        if before and now:
            words = f"{model}: {title} P95 {now['p95']:.4g} ms, before {before.p95:.4g} ms"
            found.append((now["p95"] / max(before.p95, 1e-9), words))
    before, now = kept.calls_per_second, seen["calls_per_second"]
    if before and now:
        found.append((before / now, f"{model}: {now:.3g} calls a second, before {before:.3g}"))
    return found


def _rackwright(*words: str | Path) -> list[str]:
    """The command of the environment that this runs in."""
    return [str(Path(sys.executable).with_name("rackwright")), *map(str, words)]
