"""A change that goes through a cluster node by node: what the cluster says of its nodes, and what stands in the way."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rackwright.errors import Refusal
from rackwright.site.node_marks import PREFIX

DRAINED_FOR = (
    f"{PREFIX}/drained-for"  # an annotation: a node that bears it was drained by us, and is ours to bring back
)
VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")


class Node(NamedTuple):
    """A node as its cluster knows it; `drained_for` is what we drained it for, empty where we did not."""

    name: str
    version: str
    is_ready: bool
    is_cordoned: bool
    drained_for: str


def nodes(said: str) -> dict[str, Node]:
    """Nodes by name out of `kubectl get nodes --output json`, of all or of one."""
    document = json.loads(said) if said.strip() else {}
    items = document.get("items", [document] if document.get("metadata") else [])
    return {node.name: node for node in map(_node, items)}


def hindrances(said: str, hosts: Sequence[str], wished: str = "") -> list[str]:
    """Why no node is touched yet, a sentence and its cure each; `wished` is the version that they move to, if any."""
    known = nodes(said)
    lost = [name for name in hosts if name not in known]
    found = [
        f"{name} is a host of the site and no node of the cluster: add it first (playbooks/node.yml)." for name in lost
    ]
    for node in (known[name] for name in hosts if name in known):
        if node.is_cordoned and not node.drained_for:
            found.append(
                f"{node.name} was cordoned by somebody else: see why, and bring it back (kubectl uncordon {node.name})."
            )
        elif not node.is_ready and not node.drained_for:
            found.append(f"{node.name} is not Ready: mend it first, or a second node would be away beside it.")
        if wished and (refused := step_refused(node.version, wished)):
            found.append(f"{node.name}: {refused}")
    return found


def step_refused(found: str, wished: str) -> str:
    """Why Kubernetes does not take this step; empty where it does."""
    old, new = _parts(found), _parts(wished)
    if new < old:
        return f"its version is {found}, and the catalog says {wished}: Kubernetes does not go back."
    if old[0] != new[0] or new[1] - old[1] > 1:
        between = f"{old[0]}.{old[1] + 1}"
        return (
            f"its version is {found}, and the catalog says {wished}: minors are passed one by one. "
            f"Write {between} into inventory/catalog.yml first."
        )
    return ""


def is_due(said: str, name: str, wished: str) -> bool:
    """True of a node that is to be drained: of another version, or drained by us and never brought back."""
    node = nodes(said).get(name)
    return node is None or bool(node.drained_for) or node.version.removeprefix("v") != wished.removeprefix("v")


def _node(item: Mapping[str, Any]) -> Node:
    status = item.get("status") or {}
    conditions = {each["type"]: each["status"] for each in status.get("conditions") or ()}
    return Node(
        name=item["metadata"]["name"],
        version=(status.get("nodeInfo") or {}).get("kubeletVersion", ""),
        is_ready=conditions.get("Ready") == "True",
        is_cordoned=bool((item.get("spec") or {}).get("unschedulable")),
        drained_for=(item["metadata"].get("annotations") or {}).get(DRAINED_FOR, ""),
    )


def _parts(version: str) -> tuple[int, ...]:
    match = VERSION.match(version)
    if not match:
        raise Refusal(f"{version or 'Nothing'} is no version that is understood.", "See kubectl get nodes.")
    return tuple(int(part) for part in match.groups())
