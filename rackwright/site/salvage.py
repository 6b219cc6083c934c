"""Goes on after a fault: leaves out what does not validate, so that rules can judge the rest in the same run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rackwright.site.faults import Place

MOST_ROUNDS = 12


@dataclass
class Salvaged:
    """Blocks that are sound once `left_out` is gone; a block that lost a whole item of a list is not among them."""

    blocks: dict[str, Any] = field(default_factory=dict)
    left_out: set[Place] = field(default_factory=set)

    def touches(self, place: Place) -> bool:
        """True where a place stands in the same mapping as something that was left out, or inside it."""
        return any(place[: len(gone) - 1] == gone[:-1] for gone in self.left_out if len(gone) > 1)


def place_of(error: ErrorDetails, data: Any) -> Place:
    """The place in the document that an error means: its location without the names of union members."""
    place: list[str | int] = []
    for step in error["loc"]:
        inside = _inside(data, step)
        if inside is _NOTHING and (
            not isinstance(data, dict) or error["type"] != "missing" or step != error["loc"][-1]
        ):
            continue
        place.append(step)
        data = inside
    return tuple(place)


def salvage(kind: type[BaseModel], data: Any) -> Salvaged:
    """Sound blocks of a document whose top-level model is `kind`."""
    salvaged = Salvaged()
    if not isinstance(data, Mapping):
        return salvaged
    for name, info in kind.model_fields.items():
        adapter = _one_field(kind, name)
        if name not in data:
            if not info.is_required():
                salvaged.blocks[name] = info.get_default(call_default_factory=True)
            continue
        _salvage_block(adapter, name, data[name], salvaged)
    return salvaged


def _one_field(kind: type[BaseModel], name: str) -> type[BaseModel]:
    from pydantic import create_model  # noqa: PLC0415 - only a faulty file needs it

    info = kind.model_fields[name]
    return create_model(f"{kind.__name__}_{name}", **{name: (info.annotation, info)})  # type: ignore[call-overload, no-any-return] # fields are data here


def _salvage_block(adapter: type[BaseModel], name: str, data: Any, salvaged: Salvaged) -> None:
    holder = {name: _copy(data)}
    for _ in range(MOST_ROUNDS):
        try:
            salvaged.blocks[name] = getattr(adapter.model_validate(holder), name)
        except ValidationError as error:
            if not _leave_out(holder, (place_of(each, holder) for each in error.errors(include_url=False)), salvaged):
                return
        else:
            return


def _leave_out(holder: dict[str, Any], places: Iterable[Place], salvaged: Salvaged) -> bool:
    for place in sorted(set(places), key=len, reverse=True):
        gone = place if _inside_at(holder, place) is not _NOTHING else place[:-1]
        parent = _inside_at(holder, gone[:-1])
        if len(gone) < 2 or not isinstance(parent, dict):
            return False
        parent.pop(gone[-1], None)
        salvaged.left_out.add(gone)
    return True


def _copy(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _copy(value) for key, value in data.items()}
    return [_copy(value) for value in data] if isinstance(data, list) else data


_NOTHING = object()


def _inside(data: Any, step: str | int) -> Any:
    if isinstance(data, dict):
        return data.get(step, _NOTHING)
    if isinstance(data, list) and isinstance(step, int) and step < len(data):
        return data[step]
    return _NOTHING


def _inside_at(data: Any, place: Place) -> Any:
    for step in place:
        data = _inside(data, step)
    return data
