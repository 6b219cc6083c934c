"""One Qdrant, asked over HTTP: what it holds, and what it says of itself."""

import http.client
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from rackwright.errors import Refusal

PATIENCE_S = 60
FULL = ("no space", "disk", "storage", "quota")


@dataclass
class Store:
    """A store as its administrator sees it, by the address of each of its nodes.

    Any node answers for all of them; only what operations came to a shard each tells of its own shards alone. `key` is
    the one that may do anything. A thread has its own connection, which is opened again where it was closed.
    """

    name: str
    addresses: Sequence[str]
    key: str = field(repr=False)
    _own: threading.local = field(default_factory=threading.local, init=False, repr=False)

    def ask(self, method: str, path: str, body: Any = None, node: int = 0) -> bytes:
        """An answer's bytes; Missing for 404, Refusal where it does not answer or says no."""
        status, said = self.send(method, path, body, node)
        if status == http.client.OK:
            return said
        why = _why(said)
        if status == http.client.NOT_FOUND:
            raise Missing(f"{self.name} has no {path}: {why}.", "See what it holds: GET /collections.")
        if status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN):
            raise Refusal(
                f"{self.name} refuses the key ({status}).", "The vault's qdrant_api_key must be the store's own."
            )
        cure = "See its log; the same command goes on."
        if status >= http.client.INTERNAL_SERVER_ERROR and any(word in why.lower() for word in FULL):
            cure = "Make room on its volume (vectors.size_gb); the same command goes on."
        raise Refusal(f"{self.name} says no to {method} {path.partition('?')[0]}: {status}, {why}.", cure)

    def result(self, method: str, path: str, body: Any = None, node: int = 0) -> Any:
        """What an answer's `result` holds."""
        said = self.ask(method, path, body, node)
        try:
            return json.loads(said)["result"]
        except (ValueError, LookupError, TypeError):
            raise Refusal(f"{self.name} does not speak like a Qdrant.", "See that the address is Qdrant's.") from None

    def send(self, method: str, path: str, body: Any, node: int) -> tuple[int, bytes]:
        """One request; one that met a connection which had been closed meanwhile is sent again, since all may be."""
        text = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        headers = {"api-key": self.key} | ({} if text is None else {"content-type": "application/json"})
        for is_last in (False, True):
            connection = self._connection(node)
            try:
                connection.request(method, path, text, headers)
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if is_last or isinstance(error, TimeoutError | ConnectionRefusedError):
                    said = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
                    cure = "See that it is up, and that the way to it is open."
                    raise Refusal(f"{self.name} does not answer at {self.addresses[node]} ({said}).", cure) from None
        raise AssertionError

    def _connection(self, node: int) -> http.client.HTTPConnection:
        opened: dict[int, http.client.HTTPConnection] = self._own.__dict__.setdefault("opened", {})
        if node not in opened:
            address = self.addresses[node]
            parts = urlsplit(address)
            if parts.scheme != "http" or not parts.hostname:
                raise Refusal(
                    f"{address[:100]!r} is no address of a Qdrant.", "Write one such as http://localhost:6333."
                )
            opened[node] = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE_S)
        return opened[node]


class Missing(Refusal):
    """What was asked for is not there."""


def path(collection: str, *rest: str) -> str:
    """Where something of a collection is."""
    return "/".join(["/collections", *(quote(part, safe="") for part in (collection, *rest))])


def version(store: Store) -> str:
    """Its release, such as 1.19.0."""
    said = store.ask("GET", "/")
    try:
        return str(json.loads(said)["version"])
    except (ValueError, LookupError, TypeError):
        raise Refusal(f"{store.name} does not speak like a Qdrant.", "See that the address is Qdrant's.") from None


def collections(store: Store) -> tuple[str, ...]:
    """Names of all collections."""
    return tuple(sorted(each["name"] for each in store.result("GET", "/collections")["collections"]))


def count(store: Store, collection: str) -> int:
    """Points, each counted."""
    return int(store.result("POST", path(collection, "points", "count"), {"exact": True})["count"])


def aliases(store: Store) -> dict[str, str]:
    """Collections by their other names."""
    return {each["alias_name"]: each["collection_name"] for each in store.result("GET", "/aliases")["aliases"]}


def copies(store: Store, collection: str) -> Mapping[str, int]:
    """How many copies of its shards are in which state."""
    told = store.result("GET", path(collection, "cluster"))
    states = [each["state"] for each in (*told["local_shards"], *told["remote_shards"])]
    return {state: states.count(state) for state in sorted(set(states))}


def _why(said: bytes) -> str:
    """What an answer gives as its reason, in a clause."""
    try:
        status = json.loads(said)["status"]
        words = status["error"] if isinstance(status, dict) else status
    except (ValueError, LookupError, TypeError):
        words = said.decode(errors="replace")
    return " ".join(str(words).split())[:300].rstrip(".") or "without a reason"
