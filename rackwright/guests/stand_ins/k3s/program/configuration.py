"""The configuration file, read as k3s reads it: each key is a flag, and one that is not known ends the program."""

import json
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any

from rackwright.guests.stand_ins.k3s.program.place import Trouble, at

FILE = "/etc/rancher/k3s/config.yaml"
LINE = re.compile(r"^(?P<key>[A-Za-z0-9_-]+):(?:[ ]+(?P<value>.+))?$")
ITEM = re.compile(r"^[ ]*-[ ]+(?P<value>.+)$")
ARGUMENTS = {
    "kubelet-arg": "kubelet",
    "kube-apiserver-arg": "kube-apiserver",
    "kube-controller-manager-arg": "kube-controller-manager",
}
Value = str | list[str] | bool


def flags() -> dict[str, Any]:
    """What the real programs know, with the source."""
    text = resources.files(__package__).joinpath("flags.json").read_text(encoding="utf-8")
    known: dict[str, Any] = json.loads(text)
    return known


def configuration(kind: str) -> dict[str, Value]:
    """The file's keys and values; Trouble where there is something that the real program does not take."""
    file = at(FILE)
    found = dict(_parsed(file.read_text(encoding="utf-8"))) if file.exists() else {}
    known = flags()
    for key, value in found.items():
        if key not in known[kind]:
            raise Trouble(f"flag provided but not defined: -{key}")
        if known[kind][key] == "switch" and not isinstance(value, bool):
            raise Trouble(f'invalid boolean value "{value}" for -{key}')
        if known[kind][key] == "list" and isinstance(value, bool):
            raise Trouble(f"{key} wants a list, and is {value}")
    for key, program in ARGUMENTS.items():
        for argument in listed(found.get(key)):
            name = argument.partition("=")[0].removeprefix("--")
            if name not in known[program]:
                raise Trouble(f"{program} failed: unknown flag: --{name}")
    return found


def listed(value: Value | None) -> list[str]:
    """A value as a list, as a flag that may be given several times is read."""
    if value is None or isinstance(value, bool):
        return []
    return value if isinstance(value, list) else [value]


def argument(found: dict[str, Value], key: str, name: str) -> str | None:
    """The value of one argument that is handed on to a program."""
    given = (each.removeprefix("--").partition("=") for each in listed(found.get(key)))
    return next((value for known, _, value in given if known == name), None)


def _parsed(text: str) -> Iterator[tuple[str, Value]]:
    """Keys with texts, lists of texts and booleans: all that flags can be; a deeper file is refused."""
    key: str | None = None
    items: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.rstrip()
        if not bare or bare.lstrip().startswith("#") or bare == "---":
            continue
        if (item := ITEM.match(bare)) and key is not None:
            items.append(_plain(item["value"]))
            continue
        head = LINE.match(bare)
        if head is None:
            raise Trouble(f"{FILE}: line {number} is no key of a flag: {bare}")
        if key is not None:
            yield key, items
        key, items = None, []
        if head["value"] is None:
            key = head["key"]
        else:
            yield head["key"], _scalar(head["value"])
    if key is not None:
        yield key, items


def _scalar(text: str) -> Value:
    if text in {"true", "false"}:
        return text == "true"
    return [] if text == "[]" else _plain(text)


def _plain(text: str) -> str:
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"":
        return bare[1:-1]
    return bare
