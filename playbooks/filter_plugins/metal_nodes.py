"""What a play asks of a cluster's nodes before it takes one away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from rackwright.errors import Refusal
from rackwright.metal import quorum, rolling


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {"node_of": node_of, "nodes_hinder": hinder, "node_is_due": node_is_due, "etcd_keeps": etcd_keeps}


def node_of(said: Any, name: str) -> dict[str, Any]:
    """A node as plain data; empty where the cluster does not know it."""
    found = rolling.nodes(str(said)).get(str(name))
    return found._asdict() if found else {}


def hinder(said: Any, hosts: Sequence[str], wished: str = "") -> list[str]:
    """Why no node is touched yet."""
    try:
        return rolling.hindrances(str(said), [str(name) for name in hosts], str(wished))
    except Refusal as refusal:
        raise AnsibleFilterError(f"{refusal.what} {refusal.cure}") from None


def node_is_due(said: Any, name: str, wished: str) -> bool:
    """Whether a node is to be drained for another version."""
    return rolling.is_due(str(said), str(name), str(wished))


def etcd_keeps(said: Any, name: str, health: Any) -> str:
    """Why a member may not leave etcd; empty where it may."""
    return quorum.why_it_stays(str(name), quorum.members(str(said)), quorum.healthy(str(health)))
