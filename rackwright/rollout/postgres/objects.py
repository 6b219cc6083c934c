"""What CloudNativePG's clusters of both phases are told, so that one follows the other and they change places.

A distributed topology: each side knows both by name, `primary` says which of them takes writes. The side that ends is
told first, and answers with a token that says how far its log went; the side that takes over is told with that token,
and waits until it has everything. Without a token it would be a failover, after which the old side is made anew.
"""

from dataclasses import dataclass
from typing import Any

Patch = dict[str, Any]
REPLICATION_USER = "streaming_replica"  # the operator's own


@dataclass(frozen=True)
class Side:
    """One phase's cluster as the other one reaches it; `name` is what both call it, whatever the object is called."""

    name: str
    host: str
    port: int
    client_secret: str  # the Secret with the replication user's certificate, `tls.crt` and `tls.key`
    authority_secret: str  # the Secret with the authority that vouches for the server, `ca.crt`


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
        },
        "sslCert": {"name": side.client_secret, "key": "tls.crt"},
        "sslKey": {"name": side.client_secret, "key": "tls.key"},
        "sslRootCert": {"name": side.authority_secret, "key": "ca.crt"},
    }


def founded_as_a_copy(own: Side, other: Side) -> Patch:
    """Of a cluster that is yet to be made: it begins as a copy of the other one, and follows it."""
    return {"spec": {"bootstrap": {"pg_basebackup": {"source": other.name}}, **_topology(own, other, primary=other)}}


def part_of_both(own: Side, other: Side) -> Patch:
    """Of the cluster that takes writes: there is another one, to which they may go over."""
    return {"spec": _topology(own, other, primary=own)}


def demoted(other: Side) -> Patch:
    """Of the cluster that took writes: the other one is to; its status then shows the token."""
    return {"spec": {"replica": {"primary": other.name}}}


def promoted(own: Side, token: str) -> Patch:
    """Of the cluster that is to take writes: only with what the other one's log came to, and both words at once."""
    return {"spec": {"replica": {"primary": own.name, "promotionToken": token}}}


def token_of(cluster: dict[str, Any]) -> str:
    """What a demoted cluster answers with; nothing until it has ended."""
    return str(cluster.get("status", {}).get("demotionToken", ""))


def _topology(own: Side, other: Side, *, primary: Side) -> dict[str, Any]:
    return {
        "replica": {"self": own.name, "primary": primary.name, "source": other.name},
        "externalClusters": [external(own), external(other)],
    }
