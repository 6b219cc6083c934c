"""A stand-in for Qdrant, which is not to be had where these tests run: it answers the requests that the rollout makes.

It plays a store in memory: collections with their shapes, points in the order of their ids, aliases, indexes, shards
that count their operations, writes that are acknowledged before they are carried out, keys and tokens that are bound
to a point. It plays no index (every search looks at every vector), no drives and no nodes. Where upstream's
description of its interface is to be had, each request is compared with it (test_qdrant_interface.py).
"""

import base64
import copy
import hashlib
import hmac
import json
import math
import random
import re
import threading
import time
from array import array
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

RELEASE = "1.19.0"
DEFAULTS = {
    "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000, "max_indexing_threads": 0},
    "optimizer_config": {"deleted_threshold": 0.2, "default_segment_number": 0, "flush_interval_sec": 5},
    "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0, "wal_retain_closed": 1},
}


class Said(Exception):  # noqa: N818 - it is an answer
    def __init__(self, status, words):
        self.status, self.words = status, words


def order(name):
    return (0, name) if isinstance(name, int) else (1, name)


class Collection:
    def __init__(self, name, body):
        self.name = name
        self.params = {"vectors": body.get("vectors", {}), "shard_number": body.get("shard_number", 1)}
        self.params |= {key: body[key] for key in ("sparse_vectors", "sharding_method", "payload") if key in body}
        self.params |= {"replication_factor": body.get("replication_factor", 1), "on_disk_payload": True}
        self.config = {key: value | body.get(key, {}) for key, value in DEFAULTS.items()}
        self.config |= {"hnsw_config": self.config["hnsw_config"] | body.get("hnsw_config", {})}
        self.config |= {key: body.get(key) for key in ("quantization_config", "metadata", "strict_mode_config")}
        self.points, self.indexes, self.queue, self.snapshots = {}, {}, [], []
        self.operations = dict.fromkeys(range(self.params["shard_number"]), 0)

    def shard(self, name):
        return hash(str(name)) % self.params["shard_number"]

    def distance(self, vector):
        known = self.params["vectors"]
        return (known if "size" in known else known.get(vector, {"distance": "Dot"}))["distance"]

    def stored(self, vector):
        """As numbers of four bytes, and of length one where the distance wants it."""
        if isinstance(vector, list):
            return self._numbers(vector, self.distance(""))
        return {
            name: each if isinstance(each, dict) else self._numbers(each, self.distance(name))
            for name, each in vector.items()
        }

    def _numbers(self, numbers, distance):
        if numbers and isinstance(numbers[0], list):
            return [self._numbers(each, distance) for each in numbers]
        length = math.sqrt(sum(each * each for each in numbers))
        if distance == "Cosine" and length and abs(length - 1) > 1e-6:
            numbers = [each / length for each in numbers]
        return list(array("f", numbers))

    def work(self, lock):
        """One operation after the other, each when it is due."""
        while self.queue:
            due, change, done = self.queue[0]
            time.sleep(max(0.0, due - time.monotonic()))
            with lock:
                change()
                self.queue.pop(0)
            done.set()


class StandIn:
    """One store; `play` changes how it answers."""

    def __init__(self, key="the-key-of-the-store", release=RELEASE):
        self.key, self.release = key, release
        self.collections, self.aliases, self.asked = {}, {}, []
        self.lock = threading.RLock()
        self.slow_s = 0.0  # that a write which is not waited for takes to be carried out
        self.is_full = False
        self.misses = 0  # of the nearest that a search by index does not find
        self.state = "Active"
        self.snapshots, self.loses = {}, 0  # points that a snapshot lacks
        played = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self):
                length = int(self.headers.get("content-length") or 0)
                text = self.rfile.read(length)
                parts = urlsplit(self.path)
                try:
                    with played.lock:
                        body = json.loads(text) if text else None
                        found = played.answer(self.command, parts, body, self.headers.get("api-key") or "")
                    if isinstance(found, threading.Event):
                        found.wait()
                        found = {"operation_id": 0, "status": "completed"}
                    status, said = 200, found
                    if parts.path != "/":
                        said = {"result": found, "status": "ok", "time": random.random()}
                except Said as why:
                    status, said = why.status, {"status": {"error": why.words}, "time": 0.1}
                out = json.dumps(said, separators=(",", ":")).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(out)))
                self.end_headers()
                self.wfile.write(out)

            do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = answer  # noqa: N815 - as the base class has them

            def log_message(self, *arguments):
                """Tests speak for themselves."""

        ThreadingHTTPServer.daemon_threads = True
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def end(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method, parts, body, key):
        self.asked.append((method, parts.path, parts.query, body))
        if parts.path == "/":
            return {"title": "stand-in for qdrant", "version": self.release}
        self._let_in(key)
        if self.is_full and method in ("PUT", "PATCH"):
            raise Said(507, "Insufficient storage: disk usage is over the quota")
        names = [unquote(each) for each in parts.path.strip("/").split("/")]
        if names[0] != "collections" or names == ["collections"] or names[1] == "aliases":
            return self._of_all("/".join(names), body)
        if method == "PUT" and len(names) == 2:
            return self._make(names[1], body)
        if names[2:] == ["snapshots", "recover"]:
            return self._recover(names[1], body)
        collection = self.collections.get(self.aliases.get(names[1], names[1]))
        if collection is None:
            raise Said(404, f"Not found: Collection `{names[1]}` doesn't exist!")
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        for (verb, *wanted), act in OF_A_COLLECTION.items():
            if verb == method and len(wanted) == len(names) - 2 and all(map(_fits, wanted, names[2:])):
                return act(self, collection, names[-1], body, query)
        raise AssertionError(f"{method} {parts.path} is not played")

    def _snapshot(self, collection, _name, _body, _query):
        made = datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
        name = f"{collection.name}-{len(self.snapshots)}.snapshot"
        kept = copy.deepcopy({each: collection.points[each] for each in list(collection.points)[self.loses :]})
        self.snapshots[name] = (collection.name, kept, collection.params)
        collection.snapshots.append({"name": name, "creation_time": made, "size": 100 + len(kept)})
        return collection.snapshots[-1]

    def _snapshots(self, collection, _name, _body, _query):
        return collection.snapshots

    def _recover(self, name, body):
        """From its own folder alone."""
        _, kept, params = self.snapshots[unquote(body["location"]).rpartition("/")[2]]
        self.collections[name] = Collection(name, params)
        self.collections[name].points = kept
        return True

    def _of_all(self, name, body):
        match name:
            case "telemetry":
                return self._telemetry()
            case "aliases":
                return {"aliases": [{"alias_name": a, "collection_name": c} for a, c in self.aliases.items()]}
            case "collections":
                return {"collections": [{"name": each} for each in self.collections]}
        return self._rename(body["actions"])

    def _make(self, name, body):
        if name in self.collections:
            raise Said(409, f"Wrong input: Collection `{name}` already exists!")
        self.collections[name] = Collection(name, body)
        return True

    def _told(self, collection, _name, _body, _query):
        schema = {
            name: {"points": 0, "data_type": each}
            if isinstance(each, str)
            else {"points": 0, "data_type": each["type"], "params": each}
            for name, each in collection.indexes.items()
        }
        return {"config": {"params": collection.params} | collection.config, "payload_schema": schema}

    def _drop(self, collection, _name, _body, _query):
        del self.collections[collection.name]
        self.aliases = {a: c for a, c in self.aliases.items() if c != collection.name}
        return True

    def _limit(self, collection, _name, body, _query):
        collection.config["strict_mode_config"] = body["strict_mode_config"]
        return True

    def _spread(self, collection, _name, _body, _query):
        shards = [{"shard_id": each, "state": self.state} for each in collection.operations]
        return {"local_shards": shards, "remote_shards": shards * (collection.params["replication_factor"] - 1)}

    def _index(self, collection, _name, body, _query):
        collection.indexes[body["field_name"]] = body["field_schema"]
        return True

    def _no_index(self, collection, name, _body, _query):
        collection.indexes.pop(name, None)
        return True

    def _point(self, collection, name, _body, _query):
        point = collection.points.get(int(name) if name.isdigit() else name)
        if point is None:
            raise Said(404, f"Not found: Point with id {name} does not exists!")
        return point

    def _count(self, collection, _name, _body, _query):
        return {"count": len(collection.points)}

    def _put(self, collection, _name, body, query):
        def upsert():
            for each in body["points"]:
                stored = {"payload": each.get("payload") or {}, "vector": collection.stored(each["vector"])}
                collection.points[each["id"]] = {"id": each["id"], **stored}

        return self._change(collection, query, [each["id"] for each in body["points"]], upsert)

    def _delete(self, collection, _name, body, query):
        if "filter" in body:
            assert body == {"filter": {"must": [{"has_id": []}]}}, "no other filter is played"
            return self._change(collection, query, None, lambda: None)
        names = body["points"]
        return self._change(collection, query, names, lambda: [collection.points.pop(each, None) for each in names])

    def _change(self, collection, query, names, change):
        """One after the other; what is not waited for is acknowledged at once."""
        shards = collection.operations if names is None else {collection.shard(name) for name in names}

        def carried_out():
            change()
            for shard in shards:
                collection.operations[shard] += 1

        waits, done = query.get("wait") == "true", threading.Event()
        if not collection.queue and (waits or not self.slow_s):
            carried_out()
            return {"operation_id": 0, "status": "completed"}
        collection.queue.append((time.monotonic() + self.slow_s * (not waits), carried_out, done))
        if len(collection.queue) == 1:
            threading.Thread(target=collection.work, args=(self.lock,), daemon=True).start()
        return done if waits else {"operation_id": 0, "status": "acknowledged"}

    def _scroll(self, collection, _name, body, _query):
        start = order(body["offset"]) if "offset" in body else (0, 0)
        names = sorted((name for name in collection.points if order(name) >= start), key=order)
        limit = body.get("limit", 10)
        points = [self._shown(collection.points[name]) for name in names[:limit]]
        return {"points": points, "next_page_offset": names[limit] if len(names) > limit else None}

    def _shown(self, point):
        """Named vectors come in any order."""
        vector = point["vector"]
        if isinstance(vector, dict):
            vector = dict(random.sample(list(vector.items()), len(vector)))
        return point | {"vector": vector}

    def _search(self, collection, _name, body, _query):
        using = body.get("using", "")
        distance, found = collection.distance(using), []
        for point in collection.points.values():
            vector = point["vector"] if not using else point["vector"].get(using)
            if vector:
                found.append({"id": point["id"], "version": 0, "score": score(body["query"], vector, distance)})
        found.sort(key=lambda each: each["score"], reverse=distance not in ("Euclid", "Manhattan"))
        missed = 0 if body.get("params", {}).get("exact") else self.misses
        return {"points": found[missed : missed + body["limit"]]}

    def _rename(self, actions):
        for action in actions:
            ((kind, each),) = action.items()
            if kind == "delete_alias":
                del self.aliases[each["alias_name"]]
            else:
                self.aliases[each["alias_name"]] = each["collection_name"]
        return True

    def _telemetry(self):
        return {
            "id": "stand-in",
            "collections": {
                "number_of_collections": len(self.collections),
                "collections": [
                    {
                        "id": name,
                        "config": {"params": each.params},
                        "shards": [
                            {"id": shard, "local": {"update_queue": {"length": 0, "op_num": number}}}
                            for shard, number in each.operations.items()
                        ],
                    }
                    for name, each in self.collections.items()
                ],
            },
        }

    def _let_in(self, key):
        if key == self.key:
            return
        if key.count(".") != 2:
            raise Said(401, "Invalid API key or JWT")
        text, _, seal = key.rpartition(".")
        if hmac.new(self.key.encode(), text.encode(), hashlib.sha256).digest() != _bytes(seal):
            raise Said(403, "InvalidSignature")
        claim = json.loads(_bytes(text.split(".")[1]))["value_exists"]
        collection = self.collections.get(claim["collection"])
        if collection is None:
            raise Said(403, "Invalid JWT, stateful validation failed")
        wanted = {each["key"]: each["value"] for each in claim["matches"]}
        if not any(wanted.items() <= point["payload"].items() for point in collection.points.values()):
            raise Said(401, "Invalid JWT, stateful validation failed")


OF_A_COLLECTION = {
    ("GET",): StandIn._told,
    ("DELETE",): StandIn._drop,
    ("PATCH",): StandIn._limit,
    ("GET", "cluster"): StandIn._spread,
    ("GET", "snapshots"): StandIn._snapshots,
    ("POST", "snapshots"): StandIn._snapshot,
    ("PUT", "index"): StandIn._index,
    ("DELETE", "index", "*"): StandIn._no_index,
    ("GET", "points", "*"): StandIn._point,
    ("PUT", "points"): StandIn._put,
    ("POST", "points", "scroll"): StandIn._scroll,
    ("POST", "points", "count"): StandIn._count,
    ("POST", "points", "query"): StandIn._search,
    ("POST", "points", "delete"): StandIn._delete,
}


def _fits(wanted, name):
    return wanted in ("*", name)


def score(first, second, distance):
    if isinstance(first, dict):
        other = dict(zip(second["indices"], second["values"], strict=True))
        return sum(v * other.get(i, 0.0) for i, v in zip(first["indices"], first["values"], strict=True))
    if isinstance(first[0], list):
        return sum(max(score(one, each, distance) for each in second) for one in first)
    if distance == "Euclid":
        return math.dist(first, second)
    return sum(a * b for a, b in zip(first, second, strict=True))


def _bytes(text):
    return base64.urlsafe_b64decode(re.sub(r"=*$", "", text) + "=" * (-len(text) % 4))
