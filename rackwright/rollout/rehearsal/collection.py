"""What a collection of the stand-in holds, and its answers to what is asked of it; see stand_in.py."""

import copy
import math
import random
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol

DEFAULTS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000, "max_indexing_threads": 0},
        "optimizer_config": {"deleted_threshold": 0.2, "default_segment_number": 0, "flush_interval_sec": 5},
        "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0, "wal_retain_closed": 1},
    }
)
Point = dict[str, Any]
Vector = Any  # numbers, several such, indices with their values, or such by name
Query = Mapping[str, str]


class SaidNo(Exception):  # noqa: N818 - it is an answer
    """An answer that is none of the good ones."""

    def __init__(self, status: int, words: str) -> None:
        self.status, self.words = status, words


class Store(Protocol):
    """What a collection needs of its store."""

    collections: "dict[str, Collection]"
    aliases: dict[str, str]
    snapshots: dict[str, tuple[str, dict[Any, Point], dict[str, Any]]]
    lock: Any
    slow_s: float
    misses: int
    state: str
    loses: int


Act = Callable[[Any, "Collection", str, Any, Query], Any]


def order(name: int | str) -> tuple[int, int | str]:
    """Numbers come before words."""
    return (0, name) if isinstance(name, int) else (1, name)


class Collection:
    """Its shape, its points, and the operations that wait."""

    def __init__(self, name: str, body: Mapping[str, Any]) -> None:
        self.name = name
        self.params: dict[str, Any] = {"vectors": body.get("vectors", {}), "shard_number": body.get("shard_number", 1)}
        self.params |= {key: body[key] for key in ("sparse_vectors", "sharding_method", "payload") if key in body}
        self.params |= {"replication_factor": body.get("replication_factor", 1), "on_disk_payload": True}
        self.config: dict[str, Any] = {key: value | body.get(key, {}) for key, value in DEFAULTS.items()}
        self.config |= {"hnsw_config": self.config["hnsw_config"] | body.get("hnsw_config", {})}
        self.config |= {key: body.get(key) for key in ("quantization_config", "metadata", "strict_mode_config")}
        self.points: dict[Any, Point] = {}
        self.indexes: dict[str, Any] = {}
        self.queue: list[tuple[float, Callable[[], None], threading.Event]] = []
        self.snapshots: list[dict[str, Any]] = []
        self.operations: dict[int, int] = dict.fromkeys(range(self.params["shard_number"]), 0)

    def shard(self, name: int | str) -> int:
        """Where a point lies."""
        return hash(str(name)) % int(self.params["shard_number"])

    def distance(self, vector: str) -> str:
        """What a vector's nearest are by."""
        known = self.params["vectors"]
        return str((known if "size" in known else known.get(vector, {"distance": "Dot"}))["distance"])

    def stored(self, vector: Vector) -> Vector:
        """As numbers of four bytes, and of length one where the distance wants it."""
        if isinstance(vector, list):
            return self._numbers(vector, self.distance(""))
        return {
            name: each if isinstance(each, dict) else self._numbers(each, self.distance(name))
            for name, each in vector.items()
        }

    def _numbers(self, numbers: list[Any], distance: str) -> list[Any]:
        if numbers and isinstance(numbers[0], list):
            return [self._numbers(each, distance) for each in numbers]
        length = math.sqrt(sum(each * each for each in numbers))
        if distance == "Cosine" and length and abs(length - 1) > 1e-6:
            numbers = [each / length for each in numbers]
        return list(array("f", numbers))

    def work(self, lock: Any) -> None:
        """One operation after the other, each when it is due."""
        while self.queue:
            due, change, done = self.queue[0]
            time.sleep(max(0.0, due - time.monotonic()))
            with lock:
                change()
                self.queue.pop(0)
            done.set()


def _snapshot(store: Store, collection: Collection, _name: str, _body: Any, _query: Query) -> Any:
    made = datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
    name = f"{collection.name}-{len(store.snapshots)}.snapshot"
    kept = copy.deepcopy({each: collection.points[each] for each in list(collection.points)[store.loses :]})
    store.snapshots[name] = (collection.name, kept, collection.params)
    collection.snapshots.append({"name": name, "creation_time": made, "size": 100 + len(kept)})
    return collection.snapshots[-1]


def _snapshots(_store: Store, collection: Collection, _name: str, _body: Any, _query: Query) -> Any:
    return collection.snapshots


def _told(_store: Store, collection: Collection, _name: str, _body: Any, _query: Query) -> Any:
    schema = {
        name: {"points": 0, "data_type": each}
        if isinstance(each, str)
        else {"points": 0, "data_type": each["type"], "params": each}
        for name, each in collection.indexes.items()
    }
    return {"config": {"params": collection.params} | collection.config, "payload_schema": schema}


def _drop(store: Store, collection: Collection, _name: str, _body: Any, _query: Query) -> Any:
    del store.collections[collection.name]
    store.aliases = {a: c for a, c in store.aliases.items() if c != collection.name}
    return True


def _limit(_store: Store, collection: Collection, _name: str, body: Any, _query: Query) -> Any:
    collection.config["strict_mode_config"] = body["strict_mode_config"]
    return True


def _spread(store: Store, collection: Collection, _name: str, _body: Any, _query: Query) -> Any:
    shards = [{"shard_id": each, "state": store.state} for each in collection.operations]
    return {"local_shards": shards, "remote_shards": shards * (collection.params["replication_factor"] - 1)}


def _index(_store: Store, collection: Collection, _name: str, body: Any, _query: Query) -> Any:
    collection.indexes[body["field_name"]] = body["field_schema"]
    return True


def _no_index(_store: Store, collection: Collection, name: str, _body: Any, _query: Query) -> Any:
    collection.indexes.pop(name, None)
    return True


def _point(_store: Store, collection: Collection, name: str, _body: Any, _query: Query) -> Any:
    point = collection.points.get(int(name) if name.isdigit() else name)
    if point is None:
        raise SaidNo(404, f"Not found: Point with id {name} does not exists!")
    return point


def _count(_store: Store, collection: Collection, _name: str, _body: Any, _query: Query) -> Any:
    return {"count": len(collection.points)}


def _put(store: Store, collection: Collection, _name: str, body: Any, query: Query) -> Any:
    def upsert() -> None:
        for each in body["points"]:
            stored = {"payload": each.get("payload") or {}, "vector": collection.stored(each["vector"])}
            collection.points[each["id"]] = {"id": each["id"], **stored}

    return _change(store, collection, query, [each["id"] for each in body["points"]], upsert)


def _delete(store: Store, collection: Collection, _name: str, body: Any, query: Query) -> Any:
    if "filter" in body:
        if body != {"filter": {"must": [{"has_id": []}]}}:
            raise AssertionError("no other filter is played")
        return _change(store, collection, query, None, lambda: None)
    names = body["points"]

    def remove() -> None:
        for each in names:
            collection.points.pop(each, None)

    return _change(store, collection, query, names, remove)


def _change(
    store: Store, collection: Collection, query: Query, names: list[Any] | None, change: Callable[[], None]
) -> Any:
    """One after the other; what is not waited for is acknowledged at once."""
    shards: Iterable[int] = collection.operations if names is None else {collection.shard(name) for name in names}

    def carried_out() -> None:
        change()
        for shard in shards:
            collection.operations[shard] += 1

    waits, done = query.get("wait") == "true", threading.Event()
    if not collection.queue and (waits or not store.slow_s):
        carried_out()
        return {"operation_id": 0, "status": "completed"}
    collection.queue.append((time.monotonic() + store.slow_s * (not waits), carried_out, done))
    if len(collection.queue) == 1:
        threading.Thread(target=collection.work, args=(store.lock,), daemon=True).start()
    return done if waits else {"operation_id": 0, "status": "acknowledged"}


def _scroll(_store: Store, collection: Collection, _name: str, body: Any, _query: Query) -> Any:
    start = order(body["offset"]) if "offset" in body else (0, 0)
    names = sorted((name for name in collection.points if order(name) >= start), key=order)
    limit = body.get("limit", 10)
    points = [_shown(collection.points[name]) for name in names[:limit]]
    return {"points": points, "next_page_offset": names[limit] if len(names) > limit else None}


def _shown(point: Point) -> Point:
    """Named vectors come in any order."""
    vector = point["vector"]
    if isinstance(vector, dict):
        vector = dict(random.sample(list(vector.items()), len(vector)))
    return point | {"vector": vector}


def _search(store: Store, collection: Collection, _name: str, body: Any, _query: Query) -> Any:
    using = body.get("using", "")
    distance, found = collection.distance(using), []
    for point in collection.points.values():
        vector = point["vector"] if not using else point["vector"].get(using)
        if vector:
            found.append({"id": point["id"], "version": 0, "score": score(body["query"], vector, distance)})
    found.sort(key=lambda each: each["score"], reverse=distance not in ("Euclid", "Manhattan"))
    missed = 0 if body.get("params", {}).get("exact") else store.misses
    return {"points": found[missed : missed + body["limit"]]}


def score(first: Vector, second: Vector, distance: str) -> float:
    """How near two vectors are."""
    if isinstance(first, dict):
        other = dict(zip(second["indices"], second["values"], strict=True))
        return float(sum(v * other.get(i, 0.0) for i, v in zip(first["indices"], first["values"], strict=True)))
    if isinstance(first[0], list):
        return sum(max(score(one, each, distance) for each in second) for one in first)
    if distance == "Euclid":
        return math.dist(first, second)
    return float(sum(a * b for a, b in zip(first, second, strict=True)))


OF_A_COLLECTION: Mapping[tuple[str, ...], Act] = MappingProxyType(
    {
        ("GET",): _told,
        ("DELETE",): _drop,
        ("PATCH",): _limit,
        ("GET", "cluster"): _spread,
        ("GET", "snapshots"): _snapshots,
        ("POST", "snapshots"): _snapshot,
        ("PUT", "index"): _index,
        ("DELETE", "index", "*"): _no_index,
        ("GET", "points", "*"): _point,
        ("PUT", "points"): _put,
        ("POST", "points", "scroll"): _scroll,
        ("POST", "points", "count"): _count,
        ("POST", "points", "query"): _search,
        ("POST", "points", "delete"): _delete,
    }
)
