"""Whether the cluster's name servers all stand on one node, as they do where the others joined later."""

from collections.abc import Sequence
from typing import Any

from rackwright.site.node_marks import CONTROL_PLANE


def is_crowded(pods: Sequence[dict[str, Any]], nodes: Sequence[dict[str, Any]]) -> bool:
    """True where two or more are placed on one node, although another could take one."""
    placed = {pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")}
    return len(pods) > 1 and len(placed) == 1 and sum(_takes(node) for node in nodes) > 1


def _takes(node: dict[str, Any]) -> bool:
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"]["conditions"])
    kept_off = any(each["key"] != CONTROL_PLANE and each["effect"] != "PreferNoSchedule" for each in _taints(node))
    return ready and not node["spec"].get("unschedulable") and not kept_off


def _taints(node: dict[str, Any]) -> list[dict[str, str]]:
    return node["spec"].get("taints") or []
