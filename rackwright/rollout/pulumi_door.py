"""Phase 1's door by its own stack: the share is a setting of it, and each proxy shows the one that it has."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.commands import run
from rackwright.rollout.traffic import Shares

SHARE = "rackwright/share"  # as components/gateway/objects.py has it
PROXIES = ("get", "pods", "-n", "gateway", "-l", "app.kubernetes.io/name=envoy", "-o", "json")
ANSWER_S = 30


@dataclass(frozen=True)
class PulumiDoor:
    """`options` name the stack; `kubectl` is the command with its kubeconfig."""

    root: Path
    options: Sequence[str]
    kubectl: Sequence[str]
    environment: Mapping[str, str] | None = None

    def shares(self) -> Shares:
        """What the proxies that take requests do now."""
        return shares_of(json.loads(self._run([*self.kubectl, *PROXIES], ANSWER_S)))

    def put(self, percent: int) -> None:
        """Set it and bring the stack there: proxies are replaced one by one, and the end is waited for."""
        self._run(["pulumi", "config", "set", "rackwright:share", str(percent), *self.options], ANSWER_S)
        self._run(["pulumi", "up", "--yes", "--skip-preview", "--non-interactive", *self.options])
        found = self.shares()
        if found != Shares(percent, percent):
            raise Refusal(
                f"The stack is up, and {found.least} to {found.most} % of sessions go on, not {percent} %.",
                "See kubectl -n gateway get pods; then run the same command again.",
            )

    def _run(self, command: Sequence[str], patience_s: float | None = None) -> str:
        return run(command, self.root, self.environment, patience_s)


def shares_of(pods: Mapping[str, Any]) -> Shares:
    """The shares that proxies show; one that ends takes no more requests, and does not count."""
    found = [
        int(pod["metadata"].get("annotations", {}).get(SHARE, 0))
        for pod in pods["items"]
        if "deletionTimestamp" not in pod["metadata"]
    ]
    if not found:
        raise Refusal("No proxy of phase 1's door runs.", "See kubectl -n gateway get pods.")
    return Shares(min(found), max(found))
