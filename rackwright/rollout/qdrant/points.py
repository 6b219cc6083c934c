"""Points by pages, in the order of their ids, which is the same on every node of every store: numbers, then UUIDs."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.qdrant.store import Store, path

Id = int | str
Key = tuple[int, int | str]
Point = dict[str, Any]
LAST: Key = (2, 0)  # behind every id
FEWEST, MOST = 16, 1000  # points of a page
PAGE_BYTES = 8 * 2**20  # that it should take, well under the 32 MiB that a request may have
DIGIT = 1e-6  # vectors that a store brings to length one again may differ in their last digit
_NEXT = re.compile(rb'"next_page_offset":(null|\d+|"[^"]*")')


@dataclass(frozen=True)
class Page:
    """Some points as they came: bytes, of which many are never read, and where the next page begins."""

    text: bytes
    after: Id | None

    @property
    def end(self) -> Key:
        """The first id that this page does not tell of."""
        return LAST if self.after is None else key(self.after)

    def points(self) -> dict[Key, Point]:
        """Read them."""
        return {key(point["id"]): point for point in json.loads(self.text)["result"]["points"]}

    def is_like(self, other: "Page") -> bool:
        """Whether both stores wrote the same points in the same letters, and go on at the same place."""
        return self.after == other.after and _points(self.text) == _points(other.text)


def page(store: Store, collection: str, start: Id | None, limit: int) -> Page:
    """So many points from an id on."""
    body = {"limit": limit, "with_payload": True, "with_vector": True} | ({} if start is None else {"offset": start})
    text = store.ask("POST", path(collection, "points", "scroll"), body)
    found = list(_NEXT.finditer(text))
    if not found:
        raise Refusal(f"{store.name} does not speak like a Qdrant.", "See that the address is Qdrant's.")
    return Page(text, json.loads(found[-1][1]))


def limit_after(limit: int, text: bytes) -> int:
    """Points of the next page, from what this one took."""
    return max(FEWEST, min(MOST, limit * 2, PAGE_BYTES * limit // max(1, len(text))))


def key(name: Id) -> Key:
    """By which ids are in order."""
    return (0, name) if isinstance(name, int) else (1, name)


def is_same(first: Point, second: Point) -> bool:
    """Whether two points have one payload and one vector, but for the last digit of its numbers.

    Of numbers of two bytes the last digit is larger: each pass may write such a point again, which harms nobody.
    """
    return (first.get("payload") or {}) == (second.get("payload") or {}) and _alike(
        first.get("vector") or {}, second.get("vector") or {}
    )


def upsert(store: Store, collection: str, points: list[Point]) -> None:
    """Write points whole, in place of what was there, and wait until that is so."""
    kept = [{"id": each["id"], "vector": each.get("vector") or {}, "payload": each.get("payload")} for each in points]
    store.ask("PUT", path(collection, "points") + "?wait=true", {"points": kept})


def remove(store: Store, collection: str, names: list[Id]) -> None:
    """Remove points, and wait until they are gone."""
    store.ask("POST", path(collection, "points", "delete") + "?wait=true", {"points": names})


def _points(text: bytes) -> bytes:
    """Between the words around it: times and the like differ."""
    return text[text.find(b'"points":') : text.rfind(b'"next_page_offset":')]


def _alike(first: Any, second: Any) -> bool:
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_alike(each, second[name]) for name, each in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return first == second or (
            len(first) == len(second) and all(_alike(one, other) for one, other in zip(first, second, strict=True))
        )
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=DIGIT, abs_tol=DIGIT / 10)
    return bool(first == second)
