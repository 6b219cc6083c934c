"""Proof that a snapshot of a collection is one: it is taken, restored as another collection, counted, and removed."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from rackwright.errors import Refusal
from rackwright.rollout.qdrant.kept import held
from rackwright.rollout.qdrant.passes import Say
from rackwright.rollout.qdrant.store import Store, collections, count, path
from rackwright.rollout.qdrant.switch import RESTORED

FOLDER = "/qdrant/snapshots"  # of the chart's image
FRESH = timedelta(days=1)


@dataclass(frozen=True)
class QdrantBackup:
    """A store of one node: a snapshot holds that node's shards. In the terms of the step (backup.py of the rollout)."""

    store: Store
    say: Say

    def is_left(self) -> bool:
        """Whether a restored collection is there."""
        return RESTORED in collections(self.store)

    def remove(self) -> None:
        """Remove it; snapshots stay."""
        if self.is_left():
            self.store.ask("DELETE", path(RESTORED))

    def prove(self) -> str:
        """A snapshot of each collection; of those with points the smallest is restored and counted. In a clause."""
        points = {name: count(self.store, name) for name in held(self.store)}
        snapshots = {name: self._snapshot(name) for name in points}
        full = [name for name in points if points[name]]
        if not full:
            return f"Qdrant: {len(points)} collections without points"
        name = min(full, key=lambda each: (snapshots[each]["size"], each))
        self.remove()
        try:
            place = f"file://{FOLDER}/{quote(name)}/{quote(snapshots[name]['name'])}"
            recover = path(RESTORED, "snapshots", "recover") + "?wait=true"
            self.store.ask("PUT", recover, {"location": place, "priority": "snapshot"})
            found, now = count(self.store, RESTORED), count(self.store, name)
            if found != now and (points[name] == now or not found):
                raise Refusal(
                    f"{name} has {now} points, and {found} in its snapshot.", "See Qdrant's log; take it anew."
                )
        finally:
            self.remove()
        return f"Qdrant: {len(points)} collections by their snapshots, {found} points of {name} restored and counted"

    def _snapshot(self, name: str) -> dict[str, Any]:
        """Today's, or a new one."""
        now = datetime.now(UTC)
        for each in self.store.result("GET", path(name, "snapshots")):
            made = each.get("creation_time")
            if made and timedelta() <= now - datetime.fromisoformat(made).replace(tzinfo=UTC) <= FRESH:
                found: dict[str, Any] = each
                return found
        self.say(f"{name}: a snapshot is taken")
        made_now: dict[str, Any] = self.store.result("POST", path(name, "snapshots") + "?wait=true")
        return made_now
