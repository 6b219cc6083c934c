"""What CloudNativePG's clusters of both phases are told, so that one follows the other and they change places.

A distributed topology: each side knows both by name, `primary` says which of them takes writes. The side that ends is
told first, and answers with a token that says how far its log went; the side that takes over is told with that token,
and waits until it has everything. Without a token it would be a failover, after which the old side is made anew.

Each of these is all that a rollout says of a cluster, applied under a name of its own: what it says no more is gone,
and what stacks say of the same cluster stays.
"""

import base64
import json
from dataclasses import dataclass, replace
from typing import Any

from rackwright.site.postgresql import FIRST_DATABASE

Patch = dict[str, Any]
CLUSTER = "postgres"  # as components/postgres has it
REPLICATION_USER = "streaming_replica"  # the operator's own
CLIENT, AUTHORITY = "replication", "ca"  # the operator's Secrets bear the cluster's name before these
ANSWERS_S = 3  # of several hosts only the one with the primary answers


@dataclass(frozen=True)
class Side:
    """One phase's cluster as the other one reaches it; `name` is what both call it, whatever the object is called."""

    name: str
    host: str  # or several, by commas
    port: int
    client_secret: str  # the Secret with the replication user's certificate, `tls.crt` and `tls.key`
    authority_secret: str  # the Secret with the authority that vouches for the server, `ca.crt`
    is_copy: bool = False  # founded as one of the other


@dataclass(frozen=True)
class End:
    """Where a log ended: what a token says, and what a follower that has all of it shows after a checkpoint."""

    timeline: int
    position: int  # bytes


def external(side: Side) -> dict[str, Any]:
    """How it is reached: by its own replication user's certificate; the address is no name of the server's."""
    return {
        "name": side.name,
        "connectionParameters": {
            "host": side.host,
            "port": str(side.port),
            "user": REPLICATION_USER,
            "dbname": "postgres",
            "sslmode": "verify-ca",
            "connect_timeout": str(ANSWERS_S),
        },
        "sslCert": {"name": side.client_secret, "key": "tls.crt"},
        "sslKey": {"name": side.client_secret, "key": "tls.key"},
        "sslRootCert": {"name": side.authority_secret, "key": "ca.crt"},
    }


def part_of_both(own: Side, other: Side) -> Patch:
    """Of the cluster that takes writes: there is another one, to which they may go over."""
    return _topology(own, other, primary=own)


def following(own: Side, other: Side) -> Patch:
    """Of the cluster that follows; of one that takes writes, that it is to end: its status then shows the token."""
    return _topology(own, other, primary=other)


def promoted(own: Side, other: Side, token: str) -> Patch:
    """Of the cluster that is to take writes: only with what the other one's log came to, and both words at once."""
    found = _topology(own, other, primary=own)
    found["spec"]["replica"]["promotionToken"] = token
    return found


def plain() -> Patch:
    """Of a cluster that began as a copy, and is to be one like any other: what it follows and how it began is gone."""
    return {"spec": {"bootstrap": {"initdb": dict(FIRST_DATABASE)}}}


def nothing() -> Patch:
    """Of a cluster that was founded by itself: it knows of no other."""
    return {"spec": {}}


def token_of(cluster: dict[str, Any]) -> str:
    """What a demoted cluster answers with; nothing until it has ended."""
    return str(cluster.get("status", {}).get("demotionToken") or "")


def primary_of(cluster: dict[str, Any]) -> str:
    """Which side it is told takes writes; nothing where it knows of no other."""
    return str((cluster["spec"].get("replica") or {}).get("primary", ""))


def not_archiving(cluster: dict[str, Any]) -> str:
    """Why its log does not come to the object storage; nothing where it does, or where none was to come yet."""
    conditions = cluster.get("status", {}).get("conditions") or []
    found = (each for each in conditions if each["type"] == "ContinuousArchiving" and each["status"] == "False")
    return next((" ".join(str(each.get("message") or "without a reason").split()) for each in found), "")


def lacks_standbys(cluster: dict[str, Any]) -> bool:
    """Whether a commit there would wait for standbys that are not ready."""
    awaited = (cluster["spec"].get("postgresql", {}).get("synchronous") or {}).get("number", 0)
    return bool(awaited) and cluster.get("status", {}).get("readyInstances", 0) <= awaited


def is_copy(cluster: dict[str, Any]) -> bool:
    """Whether it was founded as a copy."""
    return "pg_basebackup" in (cluster["spec"].get("bootstrap") or {})


def end_of(token: str) -> End | None:
    """What a token says; None where it is none that we can read."""
    try:
        told = json.loads(base64.b64decode(token))
        return End(int(told["latestCheckpointTimelineID"]), bytes_of(told["latestCheckpointREDOLocation"]))
    except (ValueError, LookupError, TypeError):
        return None


def bytes_of(position: str) -> int:
    """Of a position in a log as PostgreSQL writes it, such as 0/16D68D0."""
    high, low = position.split("/")
    return int(high, 16) * 2**32 + int(low, 16)


def _topology(own: Side, other: Side, *, primary: Side) -> Patch:
    here = replace(own, client_secret=f"{CLUSTER}-{CLIENT}", authority_secret=f"{CLUSTER}-{AUTHORITY}")
    founded = {"bootstrap": {"pg_basebackup": {"source": other.name}}} if own.is_copy else {}
    return {
        "spec": {
            **founded,
            "replica": {"self": own.name, "primary": primary.name, "source": other.name},
            "externalClusters": [external(here), external(other)],
        }
    }
