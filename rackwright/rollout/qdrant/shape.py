"""A collection's shape: what it is made with on the other side, and whether both are alike."""

from dataclasses import dataclass
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.qdrant.store import Missing, Store, path

# What decides which points fit and which are near; everything else may differ.
OF_A_VECTOR = ("size", "distance", "datatype", "multivector_config")
INHERITED = ("sparse_vectors", "on_disk_payload", "payload")


@dataclass(frozen=True)
class Spread:
    """How collections are spread where they are made: shards, which are for good, and copies of each."""

    shard_number: int
    replication_factor: int

    @property
    def write_consistency_factor(self) -> int:
        """Half of the copies, as the component has it."""
        return (self.replication_factor + 1) // 2


def told(store: Store, collection: str) -> dict[str, Any]:
    """What a store tells of a collection."""
    found: dict[str, Any] = store.result("GET", path(collection))
    return found


def made_with(info: dict[str, Any], spread: Spread) -> dict[str, Any]:
    """The request that makes the same collection elsewhere; Refusal for what cannot be copied.

    Strict mode is left out: its limits are for applications, and would hold up the copy. It comes with the writes.
    """
    config = info["config"]
    parameters = config["params"]
    if parameters.get("sharding_method") == "custom":
        raise Refusal(
            "A collection has shards of its own naming (sharding_method custom), which are not copied.",
            "Move its points by its own application, or into a collection without; or set rollout.copies_data: false.",
        )
    body = {
        "vectors": parameters.get("vectors", {}),
        "shard_number": spread.shard_number,
        "replication_factor": spread.replication_factor,
        "write_consistency_factor": spread.write_consistency_factor,
        "hnsw_config": config["hnsw_config"],
        "optimizers_config": config["optimizer_config"],
        "wal_config": config.get("wal_config"),
        "quantization_config": config.get("quantization_config"),
        "metadata": config.get("metadata"),
    } | {key: parameters.get(key) for key in INHERITED}
    return {key: _without_none(value) for key, value in body.items() if value is not None}


def indexes(info: dict[str, Any]) -> dict[str, Any]:
    """Fields of the payload that are indexed, each with what its index is made with."""
    return {
        name: _without_none(each["params"]) if each.get("params") else each["data_type"]
        for name, each in info["payload_schema"].items()
    }


def shape(info: dict[str, Any]) -> dict[str, Any]:
    """By vector's name what must be alike."""
    parameters = info["config"]["params"]
    vectors = parameters.get("vectors") or {}
    named = {"": vectors} if "size" in vectors else vectors
    dense = {name: {key: each[key] for key in OF_A_VECTOR if each.get(key)} for name, each in named.items()}
    for each in dense.values():
        each.setdefault("datatype", "float32")
    sparse = {
        name: {"sparse": True, "modifier": (each or {}).get("modifier") or "none"}
        for name, each in (parameters.get("sparse_vectors") or {}).items()
    }
    return dense | sparse


def differing(collection: str, first: dict[str, Any], second: dict[str, Any]) -> str:
    """In what two collections of one name are not alike, in a clause; nothing where they are."""
    one, other = shape(first), shape(second)
    for name in sorted(one.keys() | other.keys()):
        if one.get(name) != other.get(name):
            return f"{collection} has {_said(name, one.get(name))} here and {_said(name, other.get(name))} there"
    return ""


def make(target: Store, collection: str, info: dict[str, Any], spread: Spread) -> None:
    """Have a collection of that shape on the other side; Refusal where one of another shape is there."""
    try:
        there = told(target, collection)
    except Missing:
        target.ask("PUT", path(collection), made_with(info, spread))
        there = told(target, collection)
    if words := differing(collection, info, there):
        raise Refusal(
            f"{words}.", f"See what {target.name}'s holds; where nobody needs it, delete it there, and go on."
        )
    wanted, found = indexes(info), indexes(there)
    for name in found.keys() - wanted.keys():
        target.ask("DELETE", path(collection, "index", name) + "?wait=true")
    for name, schema in wanted.items():
        if name not in found:
            target.ask("PUT", path(collection, "index") + "?wait=true", {"field_name": name, "field_schema": schema})


def _said(name: str, vector: dict[str, Any] | None) -> str:
    """A vector in words."""
    known = f"the vector {name}" if name else "a vector"
    if vector is None:
        return f"no vector {name}".rstrip()
    if "sparse" in vector:
        return f"{known} (sparse, {vector['modifier']})"
    several = ", several of each" if "multivector_config" in vector else ""
    return f"{known} of {vector['size']} {vector['datatype']}, {vector['distance']}{several}"


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(each) for key, each in value.items() if each is not None}
    return value
