"""Secrets that stand in a file by mistake, in values and in comments alike."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from rackwright.site.reading.document import Document
from rackwright.site.reading.faults import Fault, Place, spell
from rackwright.site.reading.salvage import value_at
from rackwright.site.reading.shown import SECRET

MARKS = ("://", "hf_", "sk-", "nvapi-", "AKIA", "gh", "glpat-", "PRIVATE KEY")  # one is in every secret: found faster


def secrets_in_clear(document: Document) -> Iterator[Fault]:
    """A fault for each line that holds one; the secret itself is not repeated."""
    if not any(mark in document.text for mark in MARKS):
        return
    lines = [number for number, text in enumerate(document.text.split("\n"), 1) if holds_secret(text)]
    places = sorted(((line, place) for place, line in document.lines.items() if place), key=_line) if lines else []
    for line in lines:
        yield Fault(
            str(document.file),
            line,
            spell(_holder(document, places, line)),
            "a secret stands here in clear (not repeated)",
            "put it into the vault beside the site, write its name here, and change it: it may have been seen",
        )


def _holder(document: Document, places: list[tuple[int, Place]], line: int) -> Place:
    """The value on a line that holds a secret, or else the last key that the line is behind."""
    after = bisect_right(places, line, key=_line)
    on_this_line = [place for _, place in places[bisect_left(places, line, key=_line) : after]]
    holders = (place for place in reversed(on_this_line) if holds_secret(value_at(document.data, place)))
    return next(holders, places[after - 1][1] if after else ())


def holds_secret(value: object) -> bool:
    """True for a text with a secret in it."""
    return isinstance(value, str) and any(mark in value for mark in MARKS) and SECRET.search(value) is not None


def _line(line_and_place: tuple[int, Place]) -> int:
    return line_and_place[0]
