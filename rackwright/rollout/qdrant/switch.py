"""The switch that lets applications write: one point in a collection of its own, in each of the two stores.

Qdrant has no way to be told to take no writes for a while, and another key takes a restart. But it can bind a key to a
point: applications' key is a token, signed with the store's own key, that is good only while the switch says open
(`jwt_rbac`, claim `value_exists`). One write turns it, from the next request on, and everybody can read how it stands.
Each turn has a number, so of two that are shut the one with the higher number was written to last.
"""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.qdrant.store import Missing, Store, path

SWITCH = "rackwright-writers"
RESTORED = "rackwright-restored"  # what a snapshot is restored as, for as long as it is looked at
POINT = 1
OPEN, SHUT = "open", "shut"


@dataclass(frozen=True)
class Switch:
    """How one side stands."""

    is_open: bool
    turn: int


def application_key(api_key: str) -> str:
    """The key for applications: everything is allowed with it while the switch is open, and nothing while it is not."""
    claims = {
        "access": "m",
        "value_exists": {"collection": SWITCH, "matches": [{"key": "writers", "value": OPEN}]},
        "subject": "applications",
    }
    text = f"{_part({'alg': 'HS256', 'typ': 'JWT'})}.{_part(claims)}"
    sealed = hmac.new(api_key.encode(), text.encode(), hashlib.sha256).digest()
    return f"{text}.{_letters(sealed)}"


def switch(store: Store) -> Switch | None:
    """How it stands; nothing where there is none."""
    try:
        payload = store.result("GET", path(SWITCH, "points", str(POINT)))["payload"]
    except Missing:
        return None
    return Switch(payload["writers"] == OPEN, payload["turn"])


def install(store: Store, found: Switch, copies: int) -> None:
    """Have a switch; one that is there stays as it stands."""
    if switch(store):
        return
    try:
        store.ask("GET", path(SWITCH))
    except Missing:
        store.ask("PUT", path(SWITCH), {"vectors": {}, "shard_number": 1, "replication_factor": copies})
    turn(store, found)


def turn(store: Store, to: Switch) -> None:
    """Turn it, on every copy."""
    point = {"id": POINT, "vector": {}, "payload": {"writers": OPEN if to.is_open else SHUT, "turn": to.turn}}
    store.ask("PUT", path(SWITCH, "points") + "?wait=true&ordering=strong", {"points": [point]})


@dataclass(frozen=True)
class Sides:
    """Both switches at one moment."""

    old: Switch
    new: Switch

    @classmethod
    def of(cls, old: Store, new: Store) -> "Sides":
        """Read both; Refusal where one has none, or both take writes."""
        first, second = switch(old), switch(new)
        if first is None or second is None:
            lacking = old if first is None else new
            raise Refusal(f"{lacking.name} has no switch for writes ({SWITCH}).", "The stage copy makes it.")
        if first.is_open and second.is_open:
            raise Refusal(
                f"{old.name} and {new.name} both take writes.",
                f"Find out which one applications wrote to last, and shut the other: its point {POINT} of {SWITCH}.",
            )
        return cls(first, second)

    @property
    def new_is_ahead(self) -> bool:
        """Whether the new side was written to last."""
        return self.new.turn > self.old.turn


def _part(value: dict[str, Any]) -> str:
    return _letters(json.dumps(value, separators=(",", ":")).encode())


def _letters(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
