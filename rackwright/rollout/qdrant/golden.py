"""Golden queries: of each vector of each collection some that are stored, asked of both stores, and compared.

Which they are follows from the ids alone, so it is the same ones each time. Phase 1 is asked for the exact answer, with
every vector looked at; phase 2 as applications ask, by its index.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from rackwright.rollout.gates import RECALL, Reading
from rackwright.rollout.qdrant.kept import Kept, follow, held, keep, lacking, unequal
from rackwright.rollout.qdrant.operations import operations
from rackwright.rollout.qdrant.passes import Say
from rackwright.rollout.qdrant.shape import Spread, shape, told
from rackwright.rollout.qdrant.store import Store, count, path
from rackwright.rollout.qdrant.switch import Sides
from rackwright.rollout.world import Found, State

QUERIES, NEAREST, TRIES = 20, 10, 3
SMALLER_IS_NEARER = ("Euclid", "Manhattan")
DIGIT = 1e-5


@dataclass(frozen=True)
class Asked:
    """One vector's golden queries; `recall` of 0 to 1, nothing where no point has that vector."""

    collection: str
    vector: str
    queries: int
    recall: float | None

    @property
    def words(self) -> str:
        """One clause."""
        name = f"{self.collection} {self.vector}".rstrip()
        return f"{name} {self.recall:.1%}" if self.recall is not None else f"{name} without vectors"


@dataclass
class Golden:
    """The step: bring the copy up to date, and ask. It changes nothing that applications see."""

    old: Store
    new: Store
    spread: Spread
    say: Say
    asked: list[Asked] | None = field(default=None, init=False)
    kept: Kept | None = field(default=None, init=False)

    def look(self) -> Found:
        """Done where they were asked by this very command: answers are not kept."""
        if self.asked is None:
            return Found(State.ABSENT, "not asked yet")
        return Found(State.DONE, f"{sum(each.queries for each in self.asked)} golden queries asked")

    def do(self) -> None:
        """Ask; once writes went over, there is nothing to bring."""
        self._bring()
        self.asked = []
        for name in held(self.old):
            for vector, alike in shape(told(self.old, name)).items():
                found = self._ask(name, vector, is_near=alike.get("distance") not in SMALLER_IS_NEARER)
                self.say(found.words)
                self.asked.append(found)

    def undo(self) -> None:
        """Nothing."""

    def collections_follow(self) -> Reading:
        """The gate before: what was written since the last pass, weeks ago perhaps, is brought first."""
        self._bring()
        return follow(self.old, self.new)

    def _bring(self) -> None:
        if self.kept is None and Sides.of(self.old, self.new).old.is_open:
            self.kept = keep(self.old, self.new, self.spread, self.say)

    def _ask(self, collection: str, vector: str, *, is_near: bool) -> Asked:
        """What was written meanwhile is not the index's fault: then it is brought, and asked again."""
        for _ in range(TRIES):
            before = operations(self.old)[collection]
            found = ask(self.old, self.new, collection, vector, is_near=is_near)
            is_well = found.recall is None or found.recall >= RECALL
            if is_well or operations(self.old)[collection] == before or not Sides.of(self.old, self.new).old.is_open:
                return found
            keep(self.old, self.new, self.spread, self.say, only=[collection])
        return found

    def recall(self) -> Reading:
        """The gate: the worst of them."""
        wanted = f"at least {RECALL:.0%} of what phase 1 finds"
        if self.asked is None:
            return Reading(False, "not asked yet", wanted)
        known = [each for each in self.asked if each.recall is not None]
        if not known:
            return Reading(True, "no vectors in any collection", wanted)
        worst = min(known, key=lambda each: each.recall or 0)
        seen = f"{sum(each.queries for each in known)} queries, at worst {worst.words}"
        return Reading((worst.recall or 0) >= RECALL, seen, wanted)

    def points_equal(self) -> Reading:
        """The gate: equal in number where nobody writes meanwhile, else but for what is being written."""
        wanted = "points equal in both, but for what is being written"
        total, different = unequal(self.old, self.new)
        if not different:
            return Reading(True, f"{total} points in {len(held(self.old))} collections equal", wanted)
        written = self.kept.written_since(operations(self.old)) if self.kept else ()
        if still := [words for name, words in different.items() if name not in written]:
            return Reading(False, "; ".join(still), wanted)
        return Reading(not lacking(self.old, self.new), "; ".join(different.values()), wanted)


def ask(first: Store, second: Store, collection: str, vector: str, *, is_near: bool) -> Asked:
    """The golden queries of one vector. A point as near as the last one of phase 1 is as good as that one."""
    shares = []
    for query in golden(first, collection, vector):
        body = {"query": query, "limit": NEAREST} | ({"using": vector} if vector else {})
        exact = _found(first, collection, body | {"params": {"exact": True}})
        near = _found(second, collection, body)
        if exact:
            last = exact[-1]["score"]
            good = [each for each in near if _is_as_near(each["score"], last, is_near=is_near)]
            shares.append(min(1.0, len(good) / len(exact)))
    return Asked(collection, vector, len(shares), sum(shares) / len(shares) if shares else None)


def golden(store: Store, collection: str, vector: str) -> Iterator[Any]:
    """Stored vectors, from places spread evenly among the ids: numbers as far as there are points, and all UUIDs."""
    seen = set()
    for start in (*_numbers(count(store, collection)), *_uuids()):
        body = {"offset": start, "limit": 1, "with_payload": False, "with_vector": [vector] if vector else True}
        for point in store.result("POST", path(collection, "points", "scroll"), body)["points"]:
            found = point.get("vector") or {}
            query = found.get(vector) if isinstance(found, dict) else found
            if point["id"] not in seen and query:
                seen.add(point["id"])
                yield query
        if len(seen) == QUERIES:
            return


def _numbers(points: int) -> Iterator[int]:
    return (points * step // QUERIES for step in range(QUERIES))


def _uuids() -> Iterator[str]:
    return (str(UUID(int=2**128 * step // QUERIES)) for step in range(QUERIES))


def _found(store: Store, collection: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = store.result("POST", path(collection, "points", "query"), body)["points"]
    return found


def _is_as_near(score: float, last: float, *, is_near: bool) -> bool:
    return math.isclose(score, last, rel_tol=DIGIT, abs_tol=DIGIT) or (score > last) == is_near
