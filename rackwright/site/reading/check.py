"""A document against a model and its rules: every fault in one run, each with its line, its place and its cure."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rackwright.site.reading.document import Document
from rackwright.site.reading.explain import cure, explain
from rackwright.site.reading.faults import Fault, FileRefused, Place, spell
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.salvage import place_of, salvage, value_at
from rackwright.site.reading.secrets_in_clear import holds_secret, secrets_in_clear
from rackwright.site.reading.shape import is_switch, meant_key

ModelType = TypeVar("ModelType", bound=BaseModel)
Errors = list[tuple[ErrorDetails, Place]]
MOST_FAULTS = 2_000


def check(
    kind: type[ModelType],
    document: Document,
    judges: Callable[[ModelType], Iterable[Broken]],
    refusal: type[FileRefused],
) -> ModelType:
    """A document as a model that the judges accept; raises the refusal with every fault otherwise."""
    switches = [place for place in document.switches if not is_switch(kind, place)]
    errors: Errors = []
    model: ModelType | None = None
    try:
        model = kind.model_validate(document.data)
    except ValidationError as error:
        found = (each for each in error.errors(include_url=False) if not _is_follow_up(each))
        errors = [(each, place_of(each, document.data)) for each in found]
    misspelt = set(_misspelt(kind, document.data, errors[:MOST_FAULTS]))
    if model is None or switches:
        model = salvage(kind, document.data, {*switches, *misspelt, *(place for _, place in errors)})
    faults = chain(
        _repeated_keys(document),
        secrets_in_clear(document),
        _shape_faults(kind, document, errors, misspelt),
        _switched(kind, document, set(switches) - {place for _, place in errors}),
        (_fault(document, each.place, each.what, each.cure) for each in judges(model)),
    )
    shown = list(islice(faults, MOST_FAULTS))
    if shown:
        raise refusal(document.file, [*shown, *_further(document, faults)])
    return model


def _further(document: Document, faults: Iterator[Fault]) -> Iterator[Fault]:
    """Where there are more faults than anybody mends at once, a last one says so."""
    if next(faults, None):
        what = f"has more faults than the {MOST_FAULTS} that are shown"
        yield Fault(str(document.file), document.text.count("\n") + 1, spell(()), what, "mend these first")


def _is_follow_up(error: ErrorDetails) -> bool:
    """The library counts only the sound items of a list: with a faulty one it says that there are too few."""
    return error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"]


def _fault(document: Document, place: Place, what: str, cure: str) -> Fault:
    return Fault(str(document.file), document.line(place), spell(place), what, cure)


def _switched(kind: type[BaseModel], document: Document, places: Iterable[Place]) -> Iterator[Fault]:
    for place in places:
        word = str(value_at(document.data, place)).lower()
        yield _fault(document, document.origin(place), f"is {word}, which is no value here", cure(kind, place))


def _repeated_keys(document: Document) -> Iterator[Fault]:
    for each in document.repeated:
        what = f"stands a second time (first in line {each.first_line})"
        yield Fault(str(document.file), each.line, spell(each.place), what, "keep one of the two")


def _shape_faults(kind: type[BaseModel], document: Document, errors: Errors, misspelt: set[Place]) -> Iterator[Fault]:
    for error, place in errors:
        is_said = place in misspelt if error["type"] == "missing" else holds_secret(error["input"])
        if not is_said:
            what, cure = explain(kind, error, place)
            yield _fault(document, document.origin(place), what, cure)


def _misspelt(kind: type[BaseModel], data: Any, errors: Errors) -> Iterator[Place]:
    """Places of known keys that stand in the file only under a wrong name."""
    for error, place in errors:
        meant = meant_key(kind, place) if error["type"] == "extra_forbidden" else None
        if meant and value_at(data, (*place[:-1], meant)) is None:
            yield (*place[:-1], meant)
