"""Says a validation error of the library in the words of the file."""

from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from rackwright.site.faults import Place
from rackwright.site.nearest import nearest


def explain(kind: type[BaseModel], error: ErrorDetails, place: Place) -> tuple[str, str]:
    """What is wrong, and the cure."""
    match error["type"]:
        case "missing":
            return "is required and missing", f"add `{place[-1]}:` ({_description(kind, place)})"
        case "extra_forbidden":
            known = _keys(kind, place[:-1])
            return "is not a known key", nearest(str(place[-1]), known)
        case "value_error":
            what, _, cure = str(error["ctx"]["error"]).partition("; ")
            return what, cure or "write another value"
        case "model_type" | "dict_type" | "model_attributes_type":
            return f"is {_kind_of(error['input'])}, not a block of keys", f"keys: {', '.join(_keys(kind, place))}"
        case "tuple_type" | "list_type":
            return f"is {_kind_of(error['input'])}, not a list", "begin each item with a hyphen"
    message = error["msg"][0].lower() + error["msg"][1:]
    return f"{message}, but is {_shown(error['input'])}", _description(kind, place) or "write another value"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _kind_of(value: Any) -> str:
    names = {dict: "a block of keys", list: "a list", str: f"the text {_shown(value)}", type(None): "empty"}
    return names.get(type(value), _shown(value))


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]


def _at(kind: type[BaseModel], place: Place) -> list[type[BaseModel]]:
    models = [kind]
    for step in place:
        if isinstance(step, str):
            models = [
                inner
                for model in models
                if step in model.model_fields
                for inner in _models(model.model_fields[step].annotation)
            ]
    return models


def _keys(kind: type[BaseModel], place: Place) -> list[str]:
    return [key for model in _at(kind, place) for key in model.model_fields]


def _description(kind: type[BaseModel], place: Place) -> str:
    names = [step for step in place if isinstance(step, str)]
    if not names:
        return ""
    fields = (model.model_fields.get(names[-1]) for model in _at(kind, tuple(names[:-1])))
    return next((info.description.rstrip(".") for info in fields if info and info.description), "")
