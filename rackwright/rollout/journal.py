"""What was done, when, by whom and with which inputs: a line of JSON for each word of it, never changed again.

A line is on the drive before what it announces begins. Lines are ordered by their number; a clock that jumps changes
what is shown and nothing else. What a line may hold is words and figures: known secrets are taken out of them.
"""

import json
import os
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.who import who

FILE_NAME = "rollout.jsonl"
FORMAT = 1
OWN = ("n", "at", "run", "by", "event", "step")
HIDDEN = "(a secret)"
LEAST_SECRET = 6  # characters; a shorter word is in every text


@dataclass(frozen=True)
class Entry:
    """One line."""

    n: int
    at: str
    run: str
    by: str
    event: str
    step: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        """As it stands in the file."""
        own = {name: getattr(self, name) for name in OWN}
        return json.dumps({**{name: value for name, value in own.items() if value != ""}, **self.data}) + "\n"


class Journal:
    """The journal of one site, open for writing; whoever writes holds the lock."""

    def __init__(self, folder: Path, hidden: Collection[str] = ()) -> None:
        self.file = folder / FILE_NAME
        self.hidden = sorted((word for word in hidden if len(word) >= LEAST_SECRET), key=len, reverse=True)
        self.run = secrets.token_hex(4)
        text, self._whole = _read(self.file)
        self.entries = _understood(self.file, text)

    def append(self, event: str, step: str = "", **data: Any) -> Entry:
        """Write one line and wait until the drive has it; Refusal where that cannot be."""
        n = self.entries[-1].n + 1 if self.entries else 1
        more = {"format": FORMAT} if n == 1 else {}
        clean = {name: self._without_secrets(value) for name, value in (more | data).items()}
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        entry = Entry(n, now, self.run, who().short, event, step, clean)
        try:
            self._whole = _write(self.file, entry.line().encode(), self._whole)
        except OSError as error:
            raise Refusal(
                f"The journal {self.file} cannot be written ({error.strerror}).",
                "Mend that (space, owner, mode), then run it again; nothing more is done until then.",
            ) from None
        self.entries.append(entry)
        return entry

    def _without_secrets(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self._without_secrets(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._without_secrets(each) for each in value]
        if isinstance(value, str):
            for word in self.hidden:
                value = value.replace(word, HIDDEN)
        return value


def read(folder: Path) -> list[Entry]:
    """What a site's journal holds; nothing where there is none. Refusal where it is broken."""
    file = folder / FILE_NAME
    text, _ = _read(file)
    return _understood(file, text)


def _read(file: Path) -> tuple[str, int]:
    """Its whole lines, and their size in bytes: what follows the last end of a line was cut off as it was written."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return "", 0
    except OSError as error:
        raise Refusal(f"The journal {file} cannot be read ({error.strerror}).", "Mend its owner or mode.") from None
    whole = data[: data.rfind(b"\n") + 1]
    return whole.decode(errors="replace"), len(whole)


def _understood(file: Path, text: str) -> list[Entry]:
    found: list[Entry] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            data = json.loads(line)
            own = {name: data.pop(name, "") for name in OWN}
        except (ValueError, AttributeError, TypeError):  # no JSON, or JSON that is no line of ours
            own = {"n": None}
        if own["n"] != number:
            raise Refusal(
                f"Line {number} of the journal {file} is not the one that was written there.",
                "Bring the file back from git or a backup; or move it away: facts are then looked at from the start.",
            )
        if number == 1 and data.get("format", FORMAT) > FORMAT:
            raise Refusal(
                f"The journal {file} was begun by a newer Rackwright.", "Go on with that one, or a newer one."
            )
        found.append(Entry(**own, data=data))
    return found


def _write(file: Path, line: bytes, whole: int) -> int:
    """Put a line after the whole ones, in place of one that was cut off; the size that the file then has."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        os.ftruncate(descriptor, whole)
        try:
            written = os.pwrite(descriptor, line, whole)
            if written != len(line):
                raise OSError(28, "no space is left")  # noqa: TRY301 - the system says so by writing less
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, whole)  # a line that may not be there is not there
            raise
    finally:
        os.close(descriptor)
    if not whole:
        _sync(file.parent)
    return whole + len(line)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
