"""A stand-in for Qdrant, which is not to be had where rehearsals run: it answers the requests that the rollout makes.

It plays a store in memory: collections with their shapes, points in the order of their ids, aliases, indexes, shards
that count their operations, writes that are acknowledged before they are carried out, keys and tokens that are bound
to a point. It plays no index (every search looks at every vector), no drives and no nodes. Where upstream's
description of its interface is to be had, a test compares each request with it.
"""

import base64
import hashlib
import hmac
import json
import random
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from rackwright.rollout.rehearsal.collection import OF_A_COLLECTION, Collection, Point, SaidNo

RELEASE = "1.19.0"
Asked = tuple[str, str, str, Any]


class StandIn:
    """One store; who changes its attributes changes how it answers."""

    def __init__(self, key: str = "the-key-of-the-store", release: str = RELEASE) -> None:
        self.key, self.release = key, release
        self.collections: dict[str, Collection] = {}
        self.aliases: dict[str, str] = {}
        self.asked: list[Asked] = []
        self.lock = threading.RLock()
        self.slow_s = 0.0  # that a write which is not waited for takes to be carried out
        self.is_full = False
        self.misses = 0  # of the nearest that a search by index does not find
        self.state = "Active"
        self.snapshots: dict[str, tuple[str, dict[Any, Point], dict[str, Any]]] = {}
        self.loses = 0  # points that a snapshot lacks
        self.server = _Server(self)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def end(self) -> None:
        """It answers no more."""
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method: str, parts: SplitResult, body: Any, key: str) -> Any:
        """One answer, or an Event that is awaited first."""
        self.asked.append((method, parts.path, parts.query, body))
        if parts.path == "/":
            return {"title": "stand-in for qdrant", "version": self.release}
        self._let_in(key)
        if self.is_full and method in ("PUT", "PATCH"):
            raise SaidNo(507, "Insufficient storage: disk usage is over the quota")
        names = [unquote(each) for each in parts.path.strip("/").split("/")]
        if names[0] != "collections" or names == ["collections"] or names[1] == "aliases":
            return self._of_all("/".join(names), body)
        if method == "PUT" and len(names) == 2:
            return self._make(names[1], body)
        if names[2:] == ["snapshots", "recover"]:
            return self._recover(names[1], body)
        collection = self.collections.get(self.aliases.get(names[1], names[1]))
        if collection is None:
            raise SaidNo(404, f"Not found: Collection `{names[1]}` doesn't exist!")
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        for (verb, *wanted), act in OF_A_COLLECTION.items():
            if verb == method and len(wanted) == len(names) - 2 and all(map(_fits, wanted, names[2:])):
                return act(self, collection, names[-1], body, query)
        raise AssertionError(f"{method} {parts.path} is not played")

    def _recover(self, name: str, body: Any) -> bool:
        """From its own folder alone."""
        _, kept, params = self.snapshots[unquote(body["location"]).rpartition("/")[2]]
        self.collections[name] = Collection(name, params)
        self.collections[name].points = kept
        return True

    def _of_all(self, name: str, body: Any) -> Any:
        match name:
            case "telemetry":
                return self._telemetry()
            case "aliases":
                return {"aliases": [{"alias_name": a, "collection_name": c} for a, c in self.aliases.items()]}
            case "collections":
                return {"collections": [{"name": each} for each in self.collections]}
        return self._rename(body["actions"])

    def _make(self, name: str, body: Any) -> bool:
        if name in self.collections:
            raise SaidNo(409, f"Wrong input: Collection `{name}` already exists!")
        self.collections[name] = Collection(name, body)
        return True

    def _rename(self, actions: list[dict[str, Any]]) -> bool:
        for action in actions:
            ((kind, each),) = action.items()
            if kind == "delete_alias":
                del self.aliases[each["alias_name"]]
            else:
                self.aliases[each["alias_name"]] = each["collection_name"]
        return True

    def _telemetry(self) -> dict[str, Any]:
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

    def _let_in(self, key: str) -> None:
        if key == self.key:
            return
        if key.count(".") != 2:
            raise SaidNo(401, "Invalid API key or JWT")
        text, _, seal = key.rpartition(".")
        if hmac.new(self.key.encode(), text.encode(), hashlib.sha256).digest() != _bytes(seal):
            raise SaidNo(403, "InvalidSignature")
        claim = json.loads(_bytes(text.split(".")[1]))["value_exists"]
        collection = self.collections.get(claim["collection"])
        if collection is None:
            raise SaidNo(403, "Invalid JWT, stateful validation failed")
        wanted = {each["key"]: each["value"] for each in claim["matches"]}
        if not any(wanted.items() <= point["payload"].items() for point in collection.points.values()):
            raise SaidNo(401, "Invalid JWT, stateful validation failed")


class _Server(ThreadingHTTPServer):
    """Its door, on a free port of this machine's own address."""

    daemon_threads = True

    def __init__(self, played: StandIn) -> None:
        self.played = played
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def answer(self) -> None:
        """One request."""
        played = self.server.played
        text = self.rfile.read(int(self.headers.get("content-length") or 0))
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
                said = {"result": found, "status": "ok", "time": random.random()}  # noqa: S311 - no secret
        except SaidNo as why:
            status, said = why.status, {"status": {"error": why.words}, "time": 0.1}
        out = json.dumps(said, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = answer  # noqa: N815 - as the base class has them

    def log_message(self, *_: Any) -> None:
        """Whoever asks tells of it."""


def _fits(wanted: str, name: str) -> bool:
    return wanted in ("*", name)


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(re.sub(r"=*$", "", text) + "=" * (-len(text) % 4))
