"""What Pulumi tells while it works, line by line, and what a person wants to know of it."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.errors import Refusal

VERBS = {"create": "creating", "update": "updating", "delete": "deleting", "replace": "replacing", "read": "reading"}
PROVIDER = "pulumi:providers:"
STACK = "pulumi:pulumi:Stack"


def name_of(urn: str) -> str:
    """The name at a URN's end; ours say component/object."""
    return urn.rpartition("::")[2]


def refused(arguments: Sequence[str], code: int, errors: list[tuple[str, str]]) -> Refusal:
    """Why Pulumi stopped, in one sentence: the first error that says something."""
    command = f"pulumi {arguments[0]}"
    if code < 0:
        return Refusal(
            f"{command} was ended by signal {-code}, which the system sends when memory is short.",
            "Free memory, and run this again.",
        )
    told = [(name, " ".join(text.split())) for name, text in errors if text.strip()]
    told = [(name, text.removeprefix("error: ")) for name, text in told if "update failed" not in text]
    if not told:
        return Refusal(f"{command} failed and did not say why.", "Run this again with --keep and read what it left.")
    name, text = told[0]
    if "no space left on device" in text:
        return Refusal(f"{command} found the disk full.", "Free some space, and run this again.")
    return Refusal(f"{command} stopped{f' at {name}' if name else ''}: {text}", "Mend that, and run this again.")


@dataclass
class Part:
    """One component: how many resources it has, and from when to when they came up, in seconds from the start."""

    resources: int = 0
    began: float = 0.0
    ended: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it took from its first resource to its last."""
        return self.ended - self.began


@dataclass
class Events:
    """A run of Pulumi, as it told it."""

    started: float = field(default_factory=time.monotonic)
    last: float = field(default_factory=time.monotonic)
    parts: dict[str, Part] = field(default_factory=dict)
    operations: Counter[str] = field(default_factory=Counter)
    errors: list[tuple[str, str]] = field(default_factory=list)
    under_way: list[str] = field(default_factory=list)
    done: int = 0

    def hear(self, line: str) -> Iterator[str]:
        """Take one line of its output in; what is worth telling a person."""
        try:
            event: dict[str, Any] = json.loads(line)
        except ValueError:
            return
        self.last = time.monotonic()
        if diagnosis := event.get("diagnosticEvent"):
            self._diagnose(diagnosis)
        elif before := event.get("resourcePreEvent"):
            yield from self._begin(before["metadata"])
        elif after := event.get("resOutputsEvent"):
            self._end(after["metadata"])
        elif failure := event.get("resOpFailedEvent"):
            self.errors.append((name_of(failure["metadata"]["urn"]), ""))

    def quiet_for(self) -> float:
        """Seconds since it last said something."""
        return time.monotonic() - self.last

    def _diagnose(self, event: dict[str, Any]) -> None:
        if event.get("severity") == "error" and event.get("message", "").strip():
            self.errors.append((name_of(event.get("urn", "")), event["message"].strip()))

    def _begin(self, metadata: dict[str, Any]) -> Iterator[str]:
        name, part = name_of(metadata["urn"]), self._part(metadata)
        if part is None or metadata["op"] == "same":
            return
        if not part.resources and not part.began:
            part.began = time.monotonic() - self.started
        if "/" in name:
            self.under_way.append(name)
            kind = metadata["type"].rpartition(":")[2]
            yield f"{VERBS.get(metadata['op'], metadata['op'])} {kind} {name} ({self.done} done)"

    def _end(self, metadata: dict[str, Any]) -> None:
        name, part = name_of(metadata["urn"]), self._part(metadata)
        if name in self.under_way:
            self.under_way.remove(name)
        if part is None:
            return
        self.operations[metadata["op"]] += 1
        if "/" in name:
            self.done += 1
            part.resources += 1
            part.ended = max(part.ended, time.monotonic() - self.started)

    def _part(self, metadata: dict[str, Any]) -> Part | None:
        """The component that a resource belongs to, by its name; none for the stack itself and for providers."""
        if metadata["type"] == STACK or metadata["type"].startswith(PROVIDER):
            return None
        return self.parts.setdefault(name_of(metadata["urn"]).partition("/")[0], Part())
