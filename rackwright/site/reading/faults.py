"""What is wrong with a file, said so that it can be mended."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.site.reading.shown import HIDDEN, shown

Place = tuple[str | int, ...]

PLAIN_KEY = re.compile(r"[A-Za-z0-9_.+/-]{1,60}")


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong: where (file, line from 1, path in the document), what, and the cure."""

    file: str
    line: int
    path: str
    what: str
    cure: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.path}: {self.what}; {self.cure}"


class FileRefused(Refusal):
    """A file with faults; nothing was done with it."""

    def __init__(self, file: Path, faults: Iterable[Fault]) -> None:
        self.faults = sorted(set(faults))
        count = len(self.faults)
        noun = "fault" if count == 1 else "faults"
        super().__init__(f"{file} has {count} {noun}:", "\n".join(str(fault) for fault in self.faults))


class SiteRefused(FileRefused):
    """A site file with faults."""


class CatalogRefused(FileRefused):
    """A catalog with faults."""


def spell(place: Sequence[str | int]) -> str:
    """A place in a document as people write it: hosts[2].disks[0].path."""
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
        elif PLAIN_KEY.fullmatch(step) and shown(step) != HIDDEN:
            text += f".{step}" if text else step
        else:
            text += f"[{shown(step)}]"
    return text or "the document"
