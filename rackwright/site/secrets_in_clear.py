"""Secrets that stand in a file by mistake, in values and in comments alike."""

from bisect import bisect_right
from collections.abc import Iterator

from rackwright.site.document import Document
from rackwright.site.faults import Fault, Place, spell
from rackwright.site.salvage import value_at
from rackwright.site.shown import SECRET


def secrets_in_clear(document: Document) -> Iterator[Fault]:
    """A fault for each line that holds one; the secret itself is not repeated."""
    if not SECRET.search(document.text):
        return
    places = sorted(((line, place) for place, line in document.lines.items() if place), key=_line)
    for number, text in enumerate(document.text.split("\n"), 1):
        if SECRET.search(text):
            yield Fault(
                str(document.file),
                number,
                spell(_holder(document, places, number)),
                "a secret stands here in clear (not repeated)",
                "put it into the vault beside the site, write its name here, and change it: it may have been seen",
            )


def _holder(document: Document, places: list[tuple[int, Place]], number: int) -> Place:
    """The value on a line that holds a secret, or else the last key that the line is behind."""
    before = places[: bisect_right(places, number, key=_line)]
    on_this_line = [place for line, place in reversed(before) if line == number]
    holders = (place for place in on_this_line if holds_secret(value_at(document.data, place)))
    return next(holders, before[-1][1] if before else ())


def holds_secret(value: object) -> bool:
    """True for a text with a secret in it."""
    return isinstance(value, str) and SECRET.search(value) is not None


def _line(line_and_place: tuple[int, Place]) -> int:
    return line_and_place[0]
