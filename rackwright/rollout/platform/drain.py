"""`no-return/drain`: what runs on the hosts that join ends, each answer after its last word."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.rollout.commands import run
from rackwright.rollout.world import Found, State

ANSWER_S = 60
LONGEST_S = 1800  # the longest request, and the databases' order


@dataclass(frozen=True)
class Drain:
    """Phase 1's nodes, by `kubectl` with its kubeconfig."""

    root: Path
    kubectl: Sequence[str]
    nodes: Sequence[str]

    def look(self) -> Found:
        """Done where each is closed to pods, and none runs there that could be elsewhere."""
        listed = json.loads(self._run("get", "nodes", "-o", "json"))["items"]
        closed = {node["metadata"]["name"] for node in listed if node["spec"].get("unschedulable")}
        if not closed & set(self.nodes):
            return Found(State.ABSENT, "pods may be placed there")
        pods = json.loads(self._run("get", "pods", "--all-namespaces", "-o", "json"))["items"]
        left = [pod for pod in pods if pod["spec"].get("nodeName") in self.nodes and _must_go(pod)]
        if left or not closed >= set(self.nodes):
            return Found(State.TO_FINISH, f"{len(left)} pods still run there")
        return Found(State.DONE, "nothing runs there that serves")

    def do(self) -> None:
        """Drain them."""
        for name in self.nodes:
            longest = f"--timeout={LONGEST_S}s"
            self._run("drain", name, "--ignore-daemonsets", "--delete-emptydir-data", longest, patience_s=None)

    def undo(self) -> None:
        """Past the point of no return."""

    def _run(self, *arguments: str, patience_s: float | None = ANSWER_S) -> str:
        return run([*self.kubectl, *arguments], self.root, None, patience_s)


def _must_go(pod: dict[str, Any]) -> bool:
    """True of one that runs, and belongs to no daemon and to no file of the node's own."""
    owners = {each["kind"] for each in pod["metadata"].get("ownerReferences") or []}
    return pod["status"].get("phase") == "Running" and not owners & {"DaemonSet", "Node"}
