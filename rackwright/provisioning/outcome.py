"""How a run came out: a table of hosts, and of each that went wrong the task, its words and the cure."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.errors import Refusal
from rackwright.playbook import Came, Ended
from rackwright.unanswered import cure, is_of_the_password

COLUMNS = ("ok", "changed", "failed", "unreachable")
GOES_ON = "Mend that and run the same command again: it goes on where this one stopped"
HERE = "localhost"
WIDTH = 118
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # a machine's words do not steer a terminal


@dataclass(frozen=True)
class Outcome:
    """A run's end; at `not_reached` nothing was begun, and `fault` is Ansible's own where no host has one."""

    code: int
    hosts: dict[str, Came]
    not_reached: tuple[str, ...]
    fault: str = ""

    @property
    def succeeded(self) -> bool:
        """True where Ansible says so."""
        return self.code == 0

    def text(self) -> str:
        """The table for people."""
        return "\n".join([*self._table(), *self._faults(), self.summary()])

    def summary(self) -> str:
        """One sentence for the whole."""
        changed = sum(1 for came in self.hosts.values() if came.counts["changed"])
        bad = sum(1 for came in self.hosts.values() if not came.is_well)
        if self.succeeded:
            return f"{_hosts(len(self.hosts))} done, {changed} changed."
        if not bad:
            return f"Ansible ended with {self.code}: {self.fault} {GOES_ON}."
        return f"{_hosts(bad)} of {len(self.hosts) + len(self.not_reached)} went wrong, {changed} changed. {GOES_ON}."

    def as_json(self) -> dict[str, Any]:
        """The end as plain data."""
        return {
            "succeeded": self.succeeded,
            "hosts": [
                {"name": name, **came.counts, "changes": came.changes}
                | ({} if came.is_well else {"task": came.task, "what": came.words, "cure": _cure(came)})
                for name, came in self.hosts.items()
            ],
            "not_reached": list(self.not_reached),
            "summary": self.summary(),
        }

    def _table(self) -> Iterator[str]:
        wide = max((len(name) for name in (*self.hosts, *self.not_reached)), default=4) + 2
        yield f"{'':{wide}}{''.join(f'{column:>13}' for column in COLUMNS)}"
        for name, came in self.hosts.items():
            yield f"{name:{wide}}{''.join(f'{came.counts[column]:>13}' for column in COLUMNS)}"
        for name in self.not_reached:
            yield f"{name:{wide}}{'not begun':>13}"
        yield ""

    def _faults(self) -> Iterator[str]:
        for name, came in self.hosts.items():
            if not came.is_well:
                words = UNPRINTABLE.sub("?", came.words).rstrip(".")
                yield textwrap.fill(f"{name}  {came.task}: {words}.", WIDTH, subsequent_indent="  ")
                if found := _cure(came):
                    yield textwrap.fill(f"  cure: {found}.", WIDTH, subsequent_indent="    ")
        yield ""


def outcome(ended: Ended, hosts: Sequence[str]) -> Outcome:
    """The outcome for the hosts of a plan; Refusal where Ansible ended before it came to any of them."""
    if ended.code and not ended.hosts:
        raise Refusal(
            f"Ansible ended with {ended.code} before it came to a host: {ended.first_fault()}",
            "Mend that; nothing was changed.",
        )
    known = {name: ended.hosts[name] for name in (*hosts, *ended.hosts) if name in ended.hosts}
    known = {name: came for name, came in known.items() if name in hosts or any(came.counts.values())}  # skipped all
    if HERE in known and known[HERE].is_well:
        del known[HERE]  # a play that only refuses what is not meant
    left = tuple(name for name in hosts if name not in ended.hosts)
    return Outcome(ended.code, known, left, ended.first_fault() if ended.code else "")


def _cure(came: Came) -> str:
    """What mends it, where that does not stand in the words already."""
    if came.counts["unreachable"] or is_of_the_password(came.words):
        return cure(came.words)
    return ""


def _hosts(number: int) -> str:
    return f"{number} host{'' if number == 1 else 's'}"
