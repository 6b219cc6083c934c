"""A YAML file as plain data, with the line of everything in it."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rackwright.errors import Refusal
from rackwright.site.reading.faults import Place
from rackwright.site.reading.scalars import plain
from rackwright.site.reading.text_file import read_text

MOST_VALUES = 300_000
DEEPEST = 40
TEXT = (None, "!", "tag:yaml.org,2002:str")


@dataclass(frozen=True)
class Repeated:
    """A key that stands twice in one mapping."""

    place: Place
    line: int
    first_line: int


@dataclass
class Document:
    """What a file says: plain data, the line (from 1) of each place, keys that stand twice, what each alias repeats.

    `switches` are places of true and false, which the library would take for the numbers 1 and 0.
    """

    file: Path
    text: str
    data: Any = None
    lines: dict[Place, int] = field(default_factory=lambda: {(): 1})
    repeated: list[Repeated] = field(default_factory=list)
    aliases: dict[Place, Place] = field(default_factory=dict)
    switches: list[Place] = field(default_factory=list)

    def line(self, place: Place) -> int:
        """The line of a place, or of the nearest place around it."""
        while place not in self.lines and place:
            place = place[:-1]
        return self.lines.get(place, 1)

    def origin(self, place: Place) -> Place:
        """Where a place is written out: inside an alias, that is below the anchor."""
        for length in range(1, len(place)):
            anchor = self.aliases.get(place[:length])
            if anchor is not None:
                return self.origin((*anchor, *place[length:]))
        return place


def read(file: Path) -> Document:
    """Read a YAML file; raises Refusal where it cannot be read as one."""
    document = Document(file, read_text(file))
    try:
        with _collector_at_rest():
            _Builder(document).build()
    except yaml.MarkedYAMLError as error:
        raise Refusal(*_explain(document, error)) from None
    except yaml.YAMLError as error:
        raise Refusal(
            f"{file} is not YAML ({' '.join(str(error).split())}).", "Write it as plain UTF-8 text."
        ) from None
    return document


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """No search for garbage meanwhile: all that is made is kept, and looking costs a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _explain(document: Document, error: yaml.MarkedYAMLError) -> tuple[str, str]:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    lines = document.text.splitlines()
    words = lines[line - 1] if line <= len(lines) else ""
    if "\t" in words[: len(words) - len(words.lstrip())]:
        return f"{document.file}:{line}: a tab stands where YAML wants spaces.", "Indent with spaces."
    problem = error.problem or error.context or "it does not parse"
    begun = error.context_mark.line + 1 if error.context_mark else line
    where = f" in what begins in line {begun}" if begun != line else ""
    return (
        f"{document.file}:{line}: not YAML: {problem}{where}.",
        "Look there for a missing colon, quote, bracket or indent.",
    )


class _Builder:
    """Builds data and lines in one pass over the parser's events: half the time of composing nodes first."""

    def __init__(self, document: Document) -> None:
        self.made = document
        self.lines = document.lines
        self.loader: Any = yaml.CSafeLoader(document.text)
        self.next: Any = self.loader.get_event
        self.anchors: dict[str, tuple[Any, int, Place]] = {}
        self.values = 0

    def build(self) -> None:
        self.next()
        if isinstance(self.loader.peek_event(), yaml.StreamEndEvent):
            return
        self.next()
        self.made.data = self.value((), self.next())
        self.next()
        after: Any = self.loader.peek_event()
        if not isinstance(after, yaml.StreamEndEvent):
            raise self.refusal(after, "a second document begins.", "Keep one document in one file.")

    def refusal(self, event: Any, what: str, cure: str) -> Refusal:
        return Refusal(f"{self.made.file}:{event.start_mark.line + 1}: {what}", cure)

    def value(self, place: Place, event: Any) -> Any:
        kind = type(event)
        self.values += 1
        if self.values > MOST_VALUES:
            raise self.refusal(event, f"more than {MOST_VALUES} values.", "Look whether this is the right file.")
        if kind is yaml.AliasEvent:
            return self.alias(place, event)
        if event.tag is not None and (kind is not yaml.ScalarEvent or event.tag not in TEXT):
            raise self.refusal(event, f"the tag {event.tag} is not allowed here.", "Write a plain value.")
        if event.anchor is not None:
            return self.anchored(place, event)
        return self.collection_or_scalar(place, event)

    def collection_or_scalar(self, place: Place, event: Any) -> Any:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            return self.plain(place, event) if event.implicit[0] and event.tag is None else event.value
        if len(place) > DEEPEST:
            raise self.refusal(event, f"nested more than {DEEPEST} deep.", "Look at its brackets.")
        return self.mapping(place) if kind is yaml.MappingStartEvent else self.sequence(place)

    def plain(self, place: Place, event: Any) -> Any:
        value = plain(event.value)
        if value is True or value is False:
            self.made.switches.append(place)
        return value

    def anchored(self, place: Place, event: Any) -> Any:
        before = self.values
        self.anchors[event.anchor] = (None, -1, place)
        data = self.collection_or_scalar(place, event)
        self.anchors[event.anchor] = (data, self.values - before + 1, place)
        return data

    def alias(self, place: Place, event: Any) -> Any:
        name = event.anchor
        data, size, anchor = self.anchors.get(name, (None, 0, ()))
        if size == 0:
            raise self.refusal(event, f"*{name} stands before any &{name}.", "Define it above.")
        if size < 0:
            raise self.refusal(event, f"*{name} stands inside &{name} itself, a loop.", "Write the value out.")
        self.values += size - 1
        self.made.aliases[place] = anchor
        if data is True or data is False:
            self.made.switches.append(place)
        return data

    def sequence(self, place: Place) -> list[Any]:
        items: list[Any] = []
        while type(event := self.next()) is not yaml.SequenceEndEvent:
            inner = (*place, len(items))
            self.lines[inner] = event.start_mark.line + 1
            items.append(self.value(inner, event))
        return items

    def mapping(self, place: Place) -> dict[str, Any]:
        data: dict[str, Any] = {}
        while type(event := self.next()) is not yaml.MappingEndEvent:
            line = event.start_mark.line + 1
            if type(event) is not yaml.ScalarEvent:
                raise self.refusal(event, "a key must be a word.", "Write `key: value`.")
            inner = (*place, event.value)
            if event.value in data:
                self.made.repeated.append(Repeated(inner, line, self.lines[inner]))
            self.lines[inner] = line
            data[event.value] = self.value(inner, self.next())
        return data
