"""What is wrong with a file, said so that it can be mended."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import Refusal

Place = tuple[str | int, ...]


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


class SiteRefused(Refusal):
    """A site file with faults; nothing was done with it."""

    def __init__(self, file: Path, faults: Iterable[Fault]) -> None:
        self.faults = sorted(faults)
        count = len(self.faults)
        noun = "fault" if count == 1 else "faults"
        super().__init__(f"{file} has {count} {noun}:", "\n".join(str(fault) for fault in self.faults))


def spell(place: Sequence[str | int]) -> str:
    """A place in a document as people write it: hosts[2].disks[0].path."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "the document"
