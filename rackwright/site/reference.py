"""The reference of the site file as Markdown, out of the models: each key, its kind, its default and its purpose."""

import json
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from rackwright.site.reading.shape import form_of, models
from rackwright.site.site import Site

HEAD = """# The site file

`inventory/<site>/site.yml` says what one site is meant to be. This page is made from the models in `rackwright/site/`
by `rackwright schema --write`; a test refuses a copy that is out of date. `inventory/example/site.yml` states the keys
of a first site with their defaults, and `rackwright schema` prints a JSON schema for editors.

The file is YAML 1.2: `no` and `12:30` are texts. Keys that are not listed here are refused. A value may be repeated by
its anchor (`&ports`, `*ports`); merging (`<<`) is not read. Secrets never stand here, only their names in the vault.

Beyond what is listed, values must agree with each other and with `inventory/catalog.yml`: those rules are the functions
in `rackwright/site/rules/`, one a rule, and `rackwright validate` says all that are broken at once.

Volumes lie on the nodes' own NVMe drives. Rackwright makes one storage class for each purpose of a drive
(`nvme-models`, `nvme-vectors`, `nvme-database`, `nvme-scratch`), and a site file may name no other: nothing else on a
site makes volumes, so a pod with another class would wait for ever, and Qdrant and PostgreSQL lose data on a network
file system.
"""
LIMITS = {
    "ge": ", at least {}",
    "gt": ", more than {}",
    "le": ", at most {}",
    "lt": ", less than {}",
    "min_length": ", {} or more",
    "max_length": ", {} or less",
}
LONGEST_DEFAULT = 60
PLAIN = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "`true` or `false`",
    IPv4Address: "IPv4 address",
    IPv4Network: "IPv4 network",
}


def reference() -> str:
    """The whole document."""
    places: dict[type[BaseModel], list[str]] = {}
    _visit(Site, "", places)
    return HEAD + "".join(_section(paths, model) for model, paths in places.items())


def _visit(model: type[BaseModel], path: str, places: dict[type[BaseModel], list[str]]) -> None:
    """Where each block may stand, in the order in which a file is read."""
    is_new = model not in places
    places.setdefault(model, []).append(path)
    for key, info in model.model_fields.items() if is_new else ():
        inner = models(info.annotation)
        for each in inner:
            where = f"{path}.{key}".removeprefix(".") + ("[]" if _is_list(info.annotation) else "")
            _visit(each, f"{where}` with `{next(iter(each.model_fields))}" if len(inner) > 1 else where, places)


def _section(paths: list[str], model: type[BaseModel]) -> str:
    rows = "".join(_row(key, info) for key, info in model.model_fields.items())
    title = ", ".join(f"`{path}`" for path in paths) if paths != [""] else "The top level"
    return f"\n## {title}\n\n{model.__doc__}\n\n| Key | Value | Default | |\n|---|---|---|---|\n{rows}"


def _row(key: str, info: FieldInfo) -> str:
    default = "**required**" if info.is_required() else _default(info.get_default(call_default_factory=True))
    form = form_of(info)
    text = ((info.description or "") + (f" Form: {form}." if form else "")).replace("|", r"\|")
    return f"| `{key}` | {_kind(info)} | {default} | {text} |\n"


def _default(value: Any) -> str:
    if value is None:
        return "absent"
    plain = to_jsonable_python(value, exclude_none=True)
    text = plain if isinstance(plain, str) else json.dumps(plain).replace('"', "")
    return f"`{text}`" if len(text) <= LONGEST_DEFAULT else "that of its keys"


def _kind(info: FieldInfo) -> str:
    limits = "".join(_limits(info.metadata))
    return _words(info.annotation) + limits


def _words(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{each}`" for each in inner)
    if hasattr(annotation, "__metadata__"):
        return _words(annotation.__origin__) + "".join(_limits(annotation.__metadata__))
    if origin is tuple:
        return f"list of: {_words(inner[0])}"
    if origin is dict:
        return f"block of: {_words(inner[1])}"
    if inner:
        return " or ".join(dict.fromkeys(_words(each) for each in inner if each is not NoneType))
    return "block" if isinstance(annotation, type) and issubclass(annotation, BaseModel) else PLAIN[annotation]


def _limits(metadata: Any) -> Iterator[str]:
    for each in metadata:
        yield from (
            words.format(limit) for name, words in LIMITS.items() if (limit := getattr(each, name, None)) is not None
        )


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) is tuple or any(_is_list(part) for part in get_args(annotation))
