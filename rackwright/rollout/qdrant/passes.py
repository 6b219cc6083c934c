"""A pass: two collections gone through side by side, and the second put right wherever it differs.

Qdrant tells no other store what was written to it, and no point says when it was last. So a pass looks at every point
of both, page by page. Where both write a page in the same letters, it is not even read. It keeps nothing but the page
at hand, and nothing of what was done: stopped anywhere, the next one finds what is still to be done.
"""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from rackwright.rollout.qdrant.points import (
    FEWEST,
    Id,
    Key,
    Page,
    Point,
    is_same,
    key,
    limit_after,
    page,
    remove,
    upsert,
)
from rackwright.rollout.qdrant.store import Store

SAID_EVERY_S = 10.0
Say = Callable[[str], None]


@dataclass(frozen=True)
class Passed:
    """What one pass met: points of the source, those it put right in the target, and s."""

    points: int
    written: int
    removed: int
    took_s: float

    @property
    def changes(self) -> int:
        """Points that were put right."""
        return self.written + self.removed


def bring(source: Store, target: Store, collection: str, say: Say, *, limit: int = FEWEST) -> Passed:
    """Go through a collection once; `limit` is with how many points a page begins."""
    began = said = time.monotonic()
    points = written = removed = 0
    start: Id | None = None
    with ThreadPoolExecutor(max_workers=3) as hands:
        under_way: Future[None] | None = None
        while True:
            ours, theirs = _both(hands, source, target, collection, start, limit)
            if ours.is_like(theirs):
                points += limit if ours.after is not None else len(ours.points())
                after: Key = ours.end
            else:
                after = min(ours.end, theirs.end)
                held, there = _before(ours, after), _before(theirs, after)
                wrong = [each for name, each in held.items() if name not in there or not is_same(each, there[name])]
                surplus: list[Id] = [each["id"] for name, each in there.items() if name not in held]
                points, written, removed = points + len(held), written + len(wrong), removed + len(surplus)
                if wrong or surplus:
                    if under_way:
                        under_way.result()
                    under_way = hands.submit(_put_right, target, collection, wrong, surplus)
            if time.monotonic() - said > SAID_EVERY_S:
                said = time.monotonic()
                say(f"{collection}: {points} points gone through, {written} written, {removed} removed")
            limit = limit_after(limit, max(ours.text, theirs.text, key=len))
            start = next((each.after for each in (ours, theirs) if each.end == after), None)
            if start is None:
                break
        if under_way:
            under_way.result()
    return Passed(points, written, removed, time.monotonic() - began)


def _both(
    hands: ThreadPoolExecutor, source: Store, target: Store, collection: str, start: Id | None, limit: int
) -> tuple[Page, Page]:
    ours = hands.submit(page, source, collection, start, limit)
    theirs = hands.submit(page, target, collection, start, limit)
    return ours.result(), theirs.result()


def _before(found: Page, end: Key) -> dict[Key, Point]:
    return {name: each for name, each in found.points().items() if name < end}


def _put_right(target: Store, collection: str, wrong: list[Point], surplus: list[Id]) -> None:
    if wrong:
        upsert(target, collection, wrong)
    if surplus:
        remove(target, collection, sorted(surplus, key=key))
