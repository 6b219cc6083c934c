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
from rackwright.rollout.plain_file import CURE, opened
from rackwright.rollout.who import who

FILE_NAME = "rollout.jsonl"
FORMAT = 1
OWN = ("n", "at", "run", "by", "event", "step")
SHAPES: Mapping[str, type | tuple[type, ...]] = {  # what is read again; more may stand in a line
    "inputs": dict, "gate": str, "seen": str, "wanted": str, "passed": bool, "overridden": bool,
    "took_s": (int, float), "why": str, "words": str, "until": str, "site": str,
}  # fmt: skip
OF_A_GATE = frozenset({"gate", "seen", "wanted", "passed"})
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
    """The journal of one site, open for writing; whoever writes holds the lock. Refusal where it is another site's."""

    def __init__(self, folder: Path, hidden: Collection[str] = (), site: str = "") -> None:
        self.file, self.site = folder / FILE_NAME, site
        self.hidden = sorted((word for word in hidden if len(word) >= LEAST_SECRET), key=len, reverse=True)
        self.run = secrets.token_hex(4)
        text, self._whole = _read(self.file)
        self.entries = _understood(self.file, text, site)

    def append(self, event: str, step: str = "", **data: Any) -> Entry:
        """Write one line and wait until the drive has it; Refusal where that cannot be."""
        n = self.entries[-1].n + 1 if self.entries else 1
        more = {"format": FORMAT, **({"site": self.site} if self.site else {})} if n == 1 else {}
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


def read(folder: Path, site: str = "") -> list[Entry]:
    """What a site's journal holds; nothing where there is none. Refusal where it is broken, or another site's."""
    file = folder / FILE_NAME
    text, _ = _read(file)
    return _understood(file, text, site)


def _read(file: Path) -> tuple[str, int]:
    """Its whole lines, and their size in bytes: what follows the last end of a line was cut off as it was written."""
    try:
        with os.fdopen(opened(file, os.O_RDONLY), "rb") as stream:
            data = stream.read()
    except FileNotFoundError:
        return "", 0
    except OSError as error:
        raise Refusal(f"The journal {file} cannot be read ({error.strerror}).", CURE) from None
    whole = data[: data.rfind(b"\n") + 1]
    return whole.decode(errors="replace"), len(whole)


def _understood(file: Path, text: str, site: str) -> list[Entry]:
    found: list[Entry] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            data = json.loads(line)
            own = {name: data.pop(name, "") for name in OWN}
        except (ValueError, AttributeError, TypeError, RecursionError):  # no JSON, or JSON that is no line of ours
            own, data = {"n": None}, {}
        if type(own["n"]) is not int or own["n"] != number:
            raise _broken(file, number)
        if number == 1:
            _refuse_foreign(file, data, site)
        if not _is_ours(own, data):
            raise _broken(file, number)
        found.append(Entry(**own, data=data))
    return found


def _refuse_foreign(file: Path, first: Mapping[str, Any], site: str) -> None:
    """Refusal of a journal that another Rackwright began, or that tells of another site."""
    written, about = first.get("format", FORMAT), first.get("site", site)
    if type(written) is not int:
        raise _broken(file, 1)
    if written > FORMAT:
        raise Refusal(f"The journal {file} was begun by a newer Rackwright.", "Go on with that one, or a newer one.")
    if site and about != site:
        raise Refusal(
            f"The journal {file} is of the site {about}, and the file beside it names {site}.",
            f"Move it away where this folder is a copy: nothing was begun for {site} then; or write `name: {about}`.",
        )


def _is_ours(own: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
    """True of a line of which every word has the form in which it is written."""
    return (
        all(isinstance(own[name], str) for name in OWN[1:])
        and own["event"] != ""
        and all(isinstance(data[name], shape) for name, shape in SHAPES.items() if name in data)
        and (own["event"] != "gate" or data.keys() >= OF_A_GATE)
        and (own["event"] == "gate" or "overridden" not in data)
    )


def _broken(file: Path, number: int) -> Refusal:
    return Refusal(
        f"Line {number} of the journal {file} is not the one that was written there.",
        "Bring the file back from git or a backup; or move it away: facts are then looked at from the start.",
    )


def _write(file: Path, line: bytes, whole: int) -> int:
    """Put a line after the whole ones, in place of one that was cut off; the size that the file then has."""
    descriptor = opened(file, os.O_RDWR | os.O_CREAT)
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
