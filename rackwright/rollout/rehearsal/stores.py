"""Both phases' vector stores in a rehearsal: stand-ins that speak like Qdrant, and an application that writes."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rackwright.errors import Refusal
from rackwright.rollout.qdrant.store import Store, path
from rackwright.rollout.qdrant.switch import application_key, switch
from rackwright.rollout.rehearsal.application import Application
from rackwright.rollout.rehearsal.figures import Figures
from rackwright.rollout.rehearsal.stand_in import StandIn

COLLECTION, QUIET = "documents", "archive"  # one that is written to, one that nobody writes to
SIZE, POINTS, SHARDS = 8, 200, 6
EVERY_S = 0.05  # between two points
MOST = 1_000_000


class Writer(Application):
    """An application with its own key: it writes points to whichever store lets it, and never forgets."""

    def __init__(self, stores: Sequence[Store]) -> None:
        self.stores = stores
        super().__init__(COLLECTION)

    def _write(self) -> None:
        name = MOST
        while not self._ends.wait(EVERY_S):
            name += 1
            if any(self._takes(store, name) for store in self.stores):
                self._acknowledged(name)
            else:
                self._refused()

    def _takes(self, store: Store, name: int) -> bool:
        point = {"id": name, "vector": [1.0] * SIZE, "payload": {"written": name}}
        try:
            store.ask("PUT", path(COLLECTION, "points") + "?wait=true", {"points": [point]})
        except Refusal:
            return False
        return True


@dataclass(frozen=True)
class Stores:
    """Both stand-ins and who writes to them."""

    stand_ins: tuple[StandIn, StandIn]
    writer: Writer
    key: str

    def leave(self) -> None:
        """Phase 1's machine is gone, and its store with it."""
        self.stand_ins[0].end()

    def figures(self) -> Figures:
        """What the writer was told, against what the store holds that takes writes now; it writes no more.

        Before a rollout turned any switch, that is phase 1's.
        """
        self.writer.end()
        both = [Store(f"phase {n}'s Qdrant", [each.address], self.key) for n, each in enumerate(self.stand_ins, 1)]
        store = next((each for each in reversed(both) if _takes_writes(each)), both[0])
        body = {"limit": 2 * MOST}
        found = {each["id"] for each in store.result("POST", path(COLLECTION, "points", "scroll"), body)["points"]}
        lost = len(set(self.writer.told) - found)
        stands = "two STAND-INS for its HTTP interface"
        return Figures("Qdrant", stands, "points", 1, len(self.writer.told), lost, self.writer.refused_s)


@contextmanager
def stores(key: str) -> Iterator[Stores]:
    """Phase 1's with two collections, written to as soon as applications' key is good; phase 2's, empty."""
    stand_ins = (StandIn(key), StandIn(key))
    first = Store("phase 1's Qdrant", [stand_ins[0].address], key)
    chance = random.Random(7)  # noqa: S311 - no secret
    for name in (COLLECTION, QUIET):
        first.ask("PUT", path(name), {"vectors": {"size": SIZE, "distance": "Cosine"}, "shard_number": SHARDS})
        points = [
            {"id": number, "vector": [chance.gauss(0, 1) for _ in range(SIZE)], "payload": {"number": number}}
            for number in range(POINTS)
        ]
        first.ask("PUT", path(name, "points") + "?wait=true", {"points": points})
    applications = application_key(key)
    writer = Writer([Store(f"store {number}", [each.address], applications) for number, each in enumerate(stand_ins)])
    try:
        yield Stores(stand_ins, writer, key)
    finally:
        writer.end()
        for each in stand_ins:
            each.end()


def _takes_writes(store: Store) -> bool:
    found = switch(store)
    return found is not None and found.is_open
