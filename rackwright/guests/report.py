"""What a rehearsal on guests has seen, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rackwright.guests.ansible import Ran
from rackwright.site.hosts import Phase


@dataclass
class Report:
    """One rehearsal."""

    site: str
    phase: Phase
    playbook: str
    accelerator: str
    cannot_have: dict[str, tuple[str, ...]]
    stand_ins: tuple[str, ...] = ()
    steps: dict[str, float] = field(default_factory=dict)
    first: Ran = field(default_factory=Ran)
    second: Ran | None = None
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """True where the playbook ended well on every guest, and a second run changed nothing."""
        again = self.second is not None and self.second.succeeded and not self.second.changed
        return self.first.succeeded and set(self.first.stats) >= set(self.cannot_have) and again

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "succeeded": self.succeeded,
            "site": self.site,
            "phase": self.phase,
            "playbook": self.playbook,
            "accelerator": self.accelerator,
            "seconds": {name: round(seconds, 1) for name, seconds in self.steps.items()},
            "hosts": {
                name: {"first": self.first.stats.get(name, {}), "cannot_have": list(lacks)}
                | ({"second": self.second.stats.get(name, {})} if self.second else {})
                for name, lacks in self.cannot_have.items()
            },
            "failed": self.first.failed,
            "second_run": {"changes": self.second.changed, "failed": self.second.failed} if self.second else None,
            "stand_ins": list(self.stand_ins),
            "kept": self.kept,
        }

    def text(self) -> str:
        """The report for people."""
        sections = (
            ("What ran", self._ran()),
            ("A second run", self._again()),
            ("What stood in for something else", self.stand_ins),
            ("What the guests could not have", self._lacks()),
            ("How long it took", (f"{seconds:6.1f} s  {name}" for name, seconds in self.steps.items())),
            ("Kept", self._kept()),
        )
        blocks = [_block(title, lines) for title, lines in sections]
        return "\n\n".join(block for block in (*blocks, self._last_word()) if block)

    def _ran(self) -> Iterator[str]:
        for name in self.cannot_have:
            stats = self.first.stats.get(name)
            yield f"{name}: {_figures(stats)}" if stats else f"{name}: nothing ran on it"
        yield from _tasks("FAIL", self.first.failed)
        if not self.first.succeeded:
            yield from (f"  | {line}" for line in self.first.last_words())

    def _again(self) -> Iterator[str]:
        if self.second is None:
            yield "was not made, since the first did not end well."
        elif not self.second.changed and self.second.succeeded:
            yield "ok   finds nothing to do."
        else:
            yield from _tasks("FAIL changes again:", self.second.changed)
            yield from _tasks("FAIL", self.second.failed)

    def _lacks(self) -> Iterator[str]:
        for sentence in dict.fromkeys(each for lacks in self.cannot_have.values() for each in lacks):
            names = [name for name, lacks in self.cannot_have.items() if sentence in lacks]
            yield f"{', '.join(names)}: {sentence}"

    def _kept(self) -> Iterator[str]:
        for name, command in self.kept.get("ways_in", {}).items():
            yield f"{name}: {command}"
        if self.kept:
            yield f"End them with: rackwright rehearse --end {self.kept['name']}"

    def _last_word(self) -> str:
        state = "ended well" if self.succeeded else "did NOT end well"
        count = len(self.cannot_have)
        guests = f"{count} guest{'' if count == 1 else 's'}"
        return (
            f"{self.site}, phase {self.phase}, {self.playbook} {state} on {guests}; {sum(self.steps.values()):.0f} s."
        )


def _figures(stats: dict[str, int]) -> str:
    shown = ("ok", "changed", "failed", "unreachable")
    return ", ".join(f"{stats.get(name, 0)} {name}" for name in shown if name in ("ok", "changed") or stats.get(name))


def _tasks(mark: str, found: dict[str, list[str]]) -> Iterator[str]:
    for host, tasks in found.items():
        yield from (f"{mark} {host}: {task}" for task in tasks)


def _block(title: str, lines: Iterable[str]) -> str:
    body = [f"  {line}" for line in lines]
    return "\n".join([title, *body]) if body else ""
