"""Says a validation error of the library in the words of the file."""

from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from rackwright.site.reading.faults import Place
from rackwright.site.reading.nearest import listed, nearest
from rackwright.site.reading.shape import description, form, homes, keys, meant_key, words
from rackwright.site.reading.shown import HIDDEN, shown
from rackwright.site.sources import KINDS

REFERENCES = frozenset({"key", "token"})  # what stands there by mistake may be the secret itself: never repeat it
LIMITS = {
    "greater_than_equal": ("but the least is", "at least", "ge"),
    "greater_than": ("and it must be more than", "more than", "gt"),
    "less_than_equal": ("but the most is", "at most", "le"),
    "less_than": ("and it must be less than", "less than", "lt"),
}
WANTED = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a number",
    "bool": "true or false",
    "string": "a text",
    "literal": "one of the known words",
    "ip_v4_address": "an IPv4 address such as 10.20.0.11",
    "ip_v4_network": "an IPv4 network such as 10.20.0.0/24",
}


def explain(kind: type[BaseModel], error: ErrorDetails, place: Place) -> tuple[str, str]:
    """What is wrong, and the cure."""
    found = error["input"]
    match error["type"]:
        case "missing":
            return "is required and missing", f"add `{place[-1]}:`{_aside(kind, place)}"
        case "extra_forbidden":
            return "is not a known key", _meant_key(kind, place)
        case "value_error":
            what, _, cure = str(error["ctx"]["error"]).partition("; ")
            return what, cure or "write another value"
        case "source":
            return _sources(found, place)
        case "literal_error":
            return f"{_kind_of(found, place)}, which is not known", nearest(str(found), words(kind, place))
    return _limit(kind, error, place) or _wrong_kind(kind, error, place)


def _sources(found: Any, place: Place) -> tuple[str, str]:
    named = [each for each in KINDS if isinstance(found, dict) and each in found]
    what = f"names {' and '.join(named)}" if named else f"{_kind_of(found, place)}, which names no source"
    return what, f"write exactly one of the keys {', '.join(KINDS)} in it"


def _limit(kind: type[BaseModel], error: ErrorDetails, place: Place) -> tuple[str, str] | None:
    context, aside = error.get("ctx", {}), _aside(kind, place)
    if error["type"] in LIMITS:
        side, wanted, name = LIMITS[error["type"]]
        limit = context[name]
        return f"is {shown(error['input'])}, {side} {limit}", f"write {wanted} {limit}{aside}"
    if error["type"] == "too_short":
        least = context["min_length"]
        return f"has {context['actual_length']} items, and at least {least} are wanted", f"write {least} or more{aside}"
    if error["type"] == "too_long":
        most, has = context["max_length"], context["actual_length"] or "more"
        return f"has {has} items, and at most {most} are wanted", f"write {most} or less{aside}"
    return None


def _wrong_kind(kind: type[BaseModel], error: ErrorDetails, place: Place) -> tuple[str, str]:
    found, written = error["input"], cure(kind, place)
    what = ", which is not allowed"
    match error["type"]:
        case "model_type" | "dict_type" | "model_attributes_type":
            what, written = ", not a block of keys", f"keys: {listed(keys(kind, place))}"
        case "tuple_type" | "list_type":
            what, written = ", not a list", "begin each item with a hyphen"
        case "string_pattern_mismatch" | "string_too_long" | "string_too_short":
            what, written = ", which has not the right form", _form(kind, place)
        case "string_type" if isinstance(found, (int, float)):
            what, written = ", not a text", f"put it in quotes{_aside(kind, place)}"
        case "int_from_float":
            what, written = ", which has a fraction", f"write a whole number{_aside(kind, place)}"
        case "ip_v4_network" if isinstance(found, str):
            what, written = ", which is no network", _network_cure(found)
        case known if family := next((name for name in WANTED if known.startswith(name)), None):
            what = f", not {WANTED[family]}"
    return _kind_of(found, place) + what, written


def _network_cure(found: str) -> str:
    from ipaddress import IPv4Network  # noqa: PLC0415 - only a faulty file needs it

    try:
        return f"did you mean {IPv4Network(found, strict=False)}? (the part after the mask must be zero)"
    except ValueError:
        return f"write {WANTED['ip_v4_network']}"


def _meant_key(kind: type[BaseModel], place: Place) -> str:
    if place[-1] == "<<":
        return "merging is not read here; write the keys out, or repeat a whole value by its anchor (nics: *nics)"
    meant = meant_key(kind, place)
    if meant:
        return f"did you mean {meant}?"
    elsewhere = homes(kind).get(str(place[-1]))
    return f"it belongs to {' or '.join(elsewhere)}" if elsewhere else f"known: {listed(keys(kind, place[:-1]))}"


def cure(kind: type[BaseModel], place: Place) -> str:
    """What to write at a place, as far as the models say."""
    known = words(kind, place)
    return f"write one of {listed(known)}" if known else f"write another value{_aside(kind, place)}"


def _aside(kind: type[BaseModel], place: Place) -> str:
    said = description(kind, place)
    begins_with_a_name = said[1:2].isupper() or not said[:1].isalpha()
    return f" ({said if begins_with_a_name else said[0].lower() + said[1:]})" if said else ""


def _form(kind: type[BaseModel], place: Place) -> str:
    wanted = form(kind, place)
    return f"write {wanted}" if wanted else cure(kind, place)


def _kind_of(value: Any, place: Place) -> str:
    if REFERENCES & set(place[-1:]):
        return f"is {HIDDEN}"
    names = {dict: "is a block of keys", list: "is a list", type(None): "is empty"}
    return names.get(type(value), f"is {shown(value)}")
