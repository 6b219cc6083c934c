"""How many operations came to each shard: what has not risen was not written to, by whomever, with whichever key."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.qdrant.store import Store, path

DEFERRED_S, LOOK_S = 5.0, 0.1
Numbers = Mapping[str, Mapping[tuple[int, int], int]]
NOTHING: Mapping[str, Any] = {"filter": {"must": [{"has_id": []}]}}


def operations(store: Store) -> Numbers:
    """Of each collection the last operation carried out, by node and shard; Refusal where one is not told."""
    return _read(store)[0]


def all_carried_out(store: Store, names: Iterable[str]) -> Numbers:
    """The same, when everything that was acknowledged is carried out; Refusal where some of it stays hidden.

    A shard carries out one operation after the other. So one that removes nothing goes to all shards and is waited
    for: what came before it is done then. It is an operation, too, and raises each number by one.
    """
    for name in names:
        store.ask("POST", path(name, "points", "delete") + "?wait=true", NOTHING)
    deadline = time.monotonic() + DEFERRED_S
    while True:
        found, hidden = _read(store)
        if not hidden:
            return found
        if time.monotonic() > deadline:
            raise Refusal(
                f"{store.name} keeps {hidden} points hidden until they are indexed.",
                "Wait until its optimizers are done (GET /collections/NAME, update_queue); try again.",
            )
        time.sleep(LOOK_S)


def written_between(before: Numbers, after: Numbers) -> tuple[str, ...]:
    """Collections to which more came than the one operation that removes nothing, or that are new."""
    return tuple(
        name for name, numbers in after.items() if {each: n + 1 for each, n in before.get(name, {}).items()} != numbers
    )


def _read(store: Store) -> tuple[Numbers, int]:
    found: dict[str, dict[tuple[int, int], int]] = {}
    shards: dict[str, int] = {}
    hidden = 0
    for node in range(len(store.addresses)):
        told = store.result("GET", "/telemetry?details_level=3", node=node)
        for collection in told["collections"].get("collections") or []:
            name = collection["id"]
            shards[name] = collection["config"]["params"]["shard_number"]
            mine = found.setdefault(name, {})
            for shard in collection.get("shards") or []:
                queue = (shard.get("local") or {}).get("update_queue") or {}
                if queue.get("op_num") is not None:
                    mine[node, shard["id"]] = queue["op_num"]
                    hidden += queue.get("deferred_points") or 0
    for name, numbers in found.items():
        if len({shard for _, shard in numbers}) < shards[name]:
            raise Refusal(
                f"{store.name} does not tell how many operations came to every shard of {name}.",
                "Name the address of each of its nodes, and see that all of them are up.",
            )
    return found, hidden
