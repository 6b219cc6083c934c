"""A YAML file as plain data, with the line of everything in it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rackwright.errors import Refusal
from rackwright.site.faults import Place

LARGEST_BYTES = 4 * 2**20
MOST_VALUES = 500_000
DEEPEST = 40


@dataclass
class Repeated:
    """A key that stands twice in one mapping."""

    place: Place
    line: int
    first_line: int


@dataclass
class Document:
    """What a file says: plain data, the line (from 1) of each place, and keys that stand twice."""

    file: Path
    data: Any
    lines: dict[Place, int]
    repeated: list[Repeated] = field(default_factory=list)

    def line(self, place: Place) -> int:
        """The line of a place, or of the nearest place around it."""
        while place not in self.lines and place:
            place = place[:-1]
        return self.lines.get(place, 1)


def read(file: Path) -> Document:
    """Read a YAML file; raises Refusal where it cannot be read as one."""
    text = _text(file)
    try:
        return _Builder(file, text).document()
    except yaml.MarkedYAMLError as error:
        raise Refusal(*_explain(file, error)) from None
    except yaml.YAMLError as error:
        raise Refusal(
            f"{file} is not YAML ({' '.join(str(error).split())}).", "Write it as plain UTF-8 text."
        ) from None


def _text(file: Path) -> str:
    try:
        size = file.stat().st_size
        if size > LARGEST_BYTES:
            raise Refusal(
                f"{file} has {size / 2**20:.1f} MiB; a file of this kind has at most {LARGEST_BYTES // 2**20} MiB.",
                "Look whether this is the right file.",
            )
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Refusal(f"{file} is not UTF-8 text (byte {error.start}).", "Save it as UTF-8.") from None
    except OSError as error:
        raise Refusal(
            f"{file} cannot be read ({error.strerror}).", "Name the folder of a site, such as inventory/example."
        ) from None


def _explain(file: Path, error: yaml.MarkedYAMLError) -> tuple[str, str]:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    problem = error.problem or error.context or "it does not parse"
    if "\\t" in problem or "'\t'" in problem or "tab" in problem:
        return f"{file}:{line}: a tab stands where YAML wants spaces.", "Indent with spaces."
    return f"{file}:{line}: not YAML: {problem}.", "Mend that line; the lines before it were read."


class _Builder:
    """Builds data and lines in one pass over the parser's events: half the time of composing nodes first."""

    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self.loader: Any = yaml.CSafeLoader(text)
        self.resolver: Any = yaml.SafeLoader("")
        self.lines: dict[Place, int] = {}
        self.repeated: list[Repeated] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.values = 0

    def document(self) -> Document:
        loader = self.loader
        loader.get_event()
        if isinstance(loader.peek_event(), yaml.StreamEndEvent):
            return Document(self.file, None, {(): 1})
        loader.get_event()
        data = self.value(())
        loader.get_event()
        if not isinstance(loader.peek_event(), yaml.StreamEndEvent):
            line = loader.peek_event().start_mark.line + 1
            raise Refusal(f"{self.file}:{line}: a second document begins.", "Keep one document in one file.")
        return Document(self.file, data, self.lines, self.repeated)

    def value(self, place: Place) -> Any:
        event = self.loader.get_event()
        self.lines.setdefault(place, event.start_mark.line + 1)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        self.count(1, event)
        before = self.values
        if len(place) > DEEPEST:
            raise Refusal(
                f"{self.file}:{event.start_mark.line + 1}: nested more than {DEEPEST} deep.", "Look at its brackets."
            )
        if event.anchor is not None:
            self.anchors[event.anchor] = (None, -1)
        data = self.collection_or_scalar(event, place)
        if event.anchor is not None:
            self.anchors[event.anchor] = (data, self.values - before + 1)
        return data

    def collection_or_scalar(self, event: Any, place: Place) -> Any:
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(place)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(place)
        return self.scalar(event)

    def alias(self, event: Any) -> Any:
        line = event.start_mark.line + 1
        data, size = self.anchors.get(event.anchor, (None, 0))
        if size == 0:
            raise Refusal(f"{self.file}:{line}: *{event.anchor} stands before any &{event.anchor}.", "Define it above.")
        if size < 0:
            raise Refusal(
                f"{self.file}:{line}: *{event.anchor} stands inside &{event.anchor} itself, a loop.",
                "Write the value out.",
            )
        self.count(size, event)
        return data

    def count(self, more: int, event: Any) -> None:
        self.values += more
        if self.values > MOST_VALUES:
            line = event.start_mark.line + 1
            raise Refusal(
                f"{self.file}:{line}: more than {MOST_VALUES} values.", "Look whether this is the right file."
            )

    def sequence(self, place: Place) -> list[Any]:
        items: list[Any] = []
        while not isinstance(self.loader.peek_event(), yaml.SequenceEndEvent):
            items.append(self.value((*place, len(items))))
        self.loader.get_event()
        return items

    def mapping(self, place: Place) -> dict[Any, Any]:
        data: dict[Any, Any] = {}
        while not isinstance(self.loader.peek_event(), yaml.MappingEndEvent):
            event = self.loader.peek_event()
            line = event.start_mark.line + 1
            if not isinstance(event, yaml.ScalarEvent):
                raise Refusal(f"{self.file}:{line}: a key must be a word.", "Write `key: value`.")
            self.loader.get_event()
            key = self.scalar(event)
            inner = (*place, key)
            if key in data:
                self.repeated.append(Repeated(inner, line, self.lines[inner]))
            self.lines[inner] = line
            data[key] = self.value(inner)
        self.loader.get_event()
        return data

    def scalar(self, event: Any) -> Any:
        if event.tag is not None or not event.implicit[0]:
            if event.tag not in (None, "!", "tag:yaml.org,2002:str"):
                line = event.start_mark.line + 1
                raise Refusal(f"{self.file}:{line}: the tag {event.tag} is not allowed here.", "Write a plain value.")
            return event.value
        tag = self.resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag == "tag:yaml.org,2002:str":
            return event.value
        return self.typed(tag, event)

    def typed(self, tag: str, event: Any) -> Any:
        node = yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark)
        if tag not in _PLAIN:
            return event.value
        try:
            return self.resolver.construct_object(node)
        except ValueError:
            return event.value


_PLAIN = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float"))
