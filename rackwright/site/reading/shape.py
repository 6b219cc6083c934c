"""What the models know of a place in a document: its keys, its description, the words that it allows."""

from functools import cache
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rackwright.site.reading.faults import Place
from rackwright.site.reading.nearest import match
from rackwright.site.settings import Form

TOP = "the top level"


def keys(kind: type[BaseModel], place: Place) -> list[str]:
    """Keys of the block at a place."""
    return list(dict.fromkeys(key for model in _at(kind, place) for key in model.model_fields))


def meant_key(kind: type[BaseModel], place: Place) -> str | None:
    """The known key that stands at a place under a wrong name."""
    return match(str(place[-1]), keys(kind, place[:-1]))


def description(kind: type[BaseModel], place: Place) -> str:
    """What the key at a place is for, without the full stop; empty where nothing is said."""
    return next((info.description.rstrip(".") for info in _fields(kind, place) if info.description), "")


def is_switch(kind: type[BaseModel], place: Place) -> bool:
    """True where a place is for true and false, or for nothing that is known."""
    fields = _fields(kind, place)
    return not fields or any(bool in (info.annotation, *get_args(info.annotation)) for info in fields)


def form(kind: type[BaseModel], place: Place) -> str:
    """The form of the text at a place, in words; empty where any will do."""
    return next((words for info in _fields(kind, place) if (words := form_of(info))), "")


def form_of(info: FieldInfo) -> str:
    """The form of a field's text, in words; empty where any will do."""
    found = (*info.metadata, *_metadata(info.annotation))
    return next((each.words for each in found if isinstance(each, Form)), "")


def words(kind: type[BaseModel], place: Place) -> list[str]:
    """The words that the key at a place allows, where it allows only some."""
    return [str(word) for info in _fields(kind, place) for word in _literals(info.annotation)]


def blocks(kind: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """Every block that a file may have, by its name, the outermost first."""
    found: dict[str, type[BaseModel]] = {}
    pending = [kind]
    while pending:
        model = pending.pop(0)
        if model.__name__ not in found:
            found[model.__name__] = model
            pending += [inner for info in model.model_fields.values() for inner in models(info.annotation)]
    return found


@cache
def homes(kind: type[BaseModel]) -> dict[str, list[str]]:
    """By key, up to three blocks that know it."""
    found: dict[str, list[str]] = {}
    pending: list[tuple[str, type[BaseModel]]] = [(TOP, kind)]
    while pending:
        path, model = pending.pop(0)
        for name, info in model.model_fields.items():
            found.setdefault(name, []).append(path)
            pending += ((name if path == TOP else f"{path}.{name}", each) for each in models(info.annotation))
    return {name: list(dict.fromkeys(paths))[:3] for name, paths in found.items()}


def models(annotation: Any) -> list[type[BaseModel]]:
    """Blocks that a field's type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in models(argument)]


def _at(kind: type[BaseModel], place: Place) -> list[type[BaseModel]]:
    found = [kind]
    for step in place:
        fields = [info for model in found if isinstance(step, str) and (info := model.model_fields.get(step))]
        if fields:  # a number of a list or a key of a table leaves the block as it is
            found = [inner for info in fields for inner in models(info.annotation)]
    return found


def _fields(kind: type[BaseModel], place: Place) -> list[FieldInfo]:
    names = [step for step in place if isinstance(step, str)]
    return [info for model in _at(kind, tuple(names[:-1])) if names and (info := model.model_fields.get(names[-1]))]


def _metadata(annotation: Any) -> list[Any]:
    own = list(getattr(annotation, "__metadata__", ()))
    return own + [each for part in get_args(annotation) for each in _metadata(part)]


def _literals(annotation: Any) -> list[str | int]:
    found: list[str | int] = []
    for part in get_args(annotation):
        found += [part] if isinstance(part, (str, int)) else _literals(part)
    return found
