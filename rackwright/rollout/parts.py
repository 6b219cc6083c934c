"""The parts of a site that steps depend on, and their fingerprints: what was done with other inputs is noticed."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from rackwright.rollout.way import Way
from rackwright.site.clusters import Cluster

# The words that a person reads where one has changed; each is as narrow as what a step really reads.
PARTS: Mapping[str, Callable[[Way], Any]] = MappingProxyType(
    {
        "name": lambda way: way.site.name,
        "networks": lambda way: way.site.networks,
        "operating_system": lambda way: way.site.operating_system,
        "the driver": lambda way: way.site.gpu,
        "the old hosts": lambda way: way.old,
        "the new hosts": lambda way: way.new,
        "clusters.phase2": lambda way: _addresses(way.site.clusters.phase2),
        "models of both phases": lambda way: way.moving,
        "models of phase 2": lambda way: [model for model, _ in way.site.models_in(2)],
        "postgresql": lambda way: way.site.postgresql,
        "postgresql.databases": lambda way: way.site.postgresql.databases,
        "vectors": lambda way: way.site.vectors,
        "vectors.shard_number": lambda way: way.site.vectors.shard_number,
        "gateway": lambda way: way.site.gateway,
        "gateway.host": lambda way: way.site.gateway.host,
        "tenants": lambda way: way.site.tenants,
        "targets": lambda way: way.site.targets,
        "workload": lambda way: way.site.workload,
        "rollout.copies_data": lambda way: way.settings.copies_data,
        "rollout.weights": lambda way: way.settings.weights,
    }
)


def fingerprints(way: Way, parts: Iterable[str]) -> dict[str, str]:
    """Of each part twelve digits, by which a change shows and nothing of the part does."""
    return {part: _fingerprint(PARTS[part](way)) for part in parts}


def changed(before: Mapping[str, str], way: Way) -> tuple[str, ...]:
    """Parts that differ from what a step was done with; one that is not known any more has not changed."""
    now = fingerprints(way, [part for part in before if part in PARTS])
    return tuple(part for part, value in now.items() if before[part] != value)


def _addresses(cluster: Cluster | None) -> list[str]:
    """What a cluster is founded with; the file that opens it may lie anywhere."""
    return [str(each) for each in (cluster.api, cluster.pods, cluster.services)] if cluster else []


def _fingerprint(value: Any) -> str:
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)  # a new key with a default changes nothing
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value
