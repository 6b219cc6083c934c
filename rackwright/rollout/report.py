"""What the journal tells: where a rollout stands, and how it came there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.rollout.journal import Entry
from rackwright.rollout.plan import Plan
from rackwright.rollout.standing import DONE, Standing

TOLD = ("begun", "found", "undoing", "done", "taking back", "taken back", "stopped")


@dataclass(frozen=True)
class Status:
    """Where it stands, by the journal; what facts say is asked by the next run."""

    plan: Plan
    entries: Sequence[Entry]
    holder: str

    @property
    def standing(self) -> Standing:
        """Each step's last word."""
        return Standing.of(self.entries)

    @property
    def next_step(self) -> str:
        """The first step that is not done."""
        standing = self.standing
        return next((place.name for place in self.plan.places if standing.word(place.name) != DONE), "")

    @property
    def stopped(self) -> str:
        """Why the last run ended early, where it did."""
        last = self.entries[-1] if self.entries else None
        return f"{last.at} by {last.by}: {last.data.get('why', '')}" if last and last.event == "stopped" else ""

    def text(self) -> str:
        """For people."""
        return "\n".join(self._lines())

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        standing = self.standing
        return {
            "site": self.plan.way.site.name,
            "holder": self.holder,
            "next": self.next_step,
            "stopped": self.stopped,
            "no_return": standing.point_of_no_return(self.plan.places) is not None,
            "steps": {place.name: standing.word(place.name) or "absent" for place in self.plan.places},
            "overridden": [_overridden(entry) for entry in self.entries if entry.data.get("overridden")],
        }

    def _lines(self) -> Iterator[str]:
        standing = self.standing
        yield f"Rollout of {self.plan.way.site.name}, by its journal:"
        for number, stage in enumerate(self.plan.stages, 1):
            words = [standing.word(f"{stage.name}/{step.name}") for step in stage.steps]
            other = ", ".join(
                f"{step.name} {word}" for step, word in zip(stage.steps, words, strict=True) if word not in ("", DONE)
            )
            yield f"{number:3}  {stage.name:12}{words.count(DONE)} of {len(words)} done{f'; {other}' * bool(other)}"
        if not self.entries:
            yield "Nothing was begun."
        for entry in self.entries:
            if entry.data.get("overridden"):
                yield f"Overridden: {_overridden(entry)}"
        if self.stopped:
            yield f"Stopped {self.stopped}"
        if self.holder:
            yield f"At it now: {self.holder}."
        if standing.point_of_no_return(self.plan.places):
            yield "The point of no return was passed."
        yield f"Next: {self.next_step or 'nothing, all steps are done'}."


def told(entries: Sequence[Entry]) -> str:
    """The whole story, line by line: what was done, what gates saw, who let what pass."""
    return "\n".join(line for entry in entries for line in _story(entry)) or "Nothing was begun."


def as_json(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The same as plain data."""
    found = []
    for entry in entries:
        own = {"n": entry.n, "at": entry.at, "run": entry.run, "by": entry.by, "event": entry.event}
        found.append({**own, "step": entry.step, **entry.data})
    return found


def _story(entry: Entry) -> Iterator[str]:
    data, when = entry.data, f"{entry.at}  "
    if entry.event == "run":
        until = f" up to {data['until']}" if data.get("until") else ""
        yield f"{when}{entry.by} runs it{until}"
    elif entry.event == "back":
        yield f"{when}{entry.by} goes back"
    elif entry.event == "gate":
        how = "passes" if data["passed"] else "overridden" if data.get("overridden") else "DOES NOT PASS"
        yield f"{when}  {entry.step}  {data['gate']} {how}: {data['seen']} (wanted: {data['wanted']})"
    elif entry.event in TOLD:
        more = data.get("why") or data.get("words") or ""
        took = f" in {data['took_s']:g} s" if "took_s" in data else ""
        yield f"{when}{entry.step or 'run'} {entry.event}{took}{f': {more}' * bool(more)}"
    else:
        yield f"{when}{entry.step or entry.event} {entry.event}: {dict(data)}"


def _overridden(entry: Entry) -> str:
    data = entry.data
    return f"{data['gate']} at {entry.step} by {entry.by}, {entry.at}: {data['seen']} (wanted: {data['wanted']})"
