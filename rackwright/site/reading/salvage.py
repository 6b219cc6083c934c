"""Goes on after a fault: makes what can be made of a document, so that rules judge the rest in the same run."""

from collections.abc import Iterable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from rackwright.site.reading.faults import Place
from rackwright.site.reading.unknown import UNKNOWN

_Wrong = dict[str | int, "_Wrong"]  # what is wrong below a place, by step; empty: the place itself is wrong
_NOTHING = object()


def place_of(error: ErrorDetails, data: Any) -> Place:
    """The place in the document that an error means: its location without the names of union members."""
    place: list[str | int] = []
    for step in error["loc"]:
        inside = _inside(data, step)
        if inside is _NOTHING:
            is_missing = error["type"] == "missing" and step == error["loc"][-1] and isinstance(data, dict)
            if not is_missing:
                continue
        place.append(step)
        data = inside
    return tuple(place)


def salvage(kind: type[BaseModel], data: Any, wrong: Iterable[Place]) -> Any:
    """A document's model in which every wrong place is UNKNOWN, and everything else is what the document says."""
    tree: _Wrong = {}
    for place in wrong:
        _plant(tree, place)
    return _model(kind, data if isinstance(data, dict) else {}, tree)


def value_at(data: Any, place: Place) -> Any:
    """What a document says at a place; None where it says nothing."""
    for step in place:
        data = _inside(data, step)
    return None if data is _NOTHING else data


def _plant(tree: _Wrong, place: Place) -> None:
    for step in place[:-1]:
        if step in tree and not tree[step]:
            return
        tree = tree.setdefault(step, {})
    if place:
        tree[place[-1]] = {}


def _model(kind: type[BaseModel], data: Mapping[str, Any], wrong: _Wrong) -> BaseModel:
    values: dict[str, Any] = {}
    for name, info in kind.model_fields.items():
        if name in data and name not in wrong:
            values[name] = _adapter(kind, name).validate_python(data[name])
        elif name in data:
            values[name] = _part(info.annotation, data[name], wrong[name])
        elif name in wrong or info.is_required():
            values[name] = UNKNOWN
        else:
            values[name] = info.get_default(call_default_factory=True)
    return kind.model_construct(**values)


def _part(annotation: Any, data: Any, wrong: _Wrong) -> Any:
    if not wrong:
        return UNKNOWN
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        candidates = [each for each in inner if each is not NoneType]
        return _part(candidates[0], data, wrong) if len(candidates) == 1 else UNKNOWN
    if origin is tuple and isinstance(data, list):
        return tuple(_item(inner[0], item, wrong.get(index)) for index, item in enumerate(data))
    if origin is dict and isinstance(data, dict):
        return _table(inner[0], inner[1], data, wrong)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and isinstance(data, dict):
        return _model(annotation, data, wrong)
    return UNKNOWN


def _table(keys: Any, values: Any, data: Mapping[str, Any], wrong: _Wrong) -> Any:
    adapter = TypeAdapter(keys)
    try:
        return {adapter.validate_python(key): _item(values, item, wrong.get(key)) for key, item in data.items()}
    except ValidationError:
        return UNKNOWN


def _item(annotation: Any, data: Any, wrong: _Wrong | None) -> Any:
    return _validated(annotation, data) if wrong is None else _part(annotation, data, wrong)


def _validated(annotation: Any, data: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.model_validate(data)
    return TypeAdapter(annotation).validate_python(data)


@cache
def _adapter(kind: type[BaseModel], name: str) -> TypeAdapter[Any]:
    info = kind.model_fields[name]
    annotated: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    return TypeAdapter(annotated)


def _inside(data: Any, step: str | int) -> Any:
    if isinstance(data, dict):
        return data.get(step, _NOTHING)
    if isinstance(data, list) and isinstance(step, int) and step < len(data):
        return data[step]
    return _NOTHING
