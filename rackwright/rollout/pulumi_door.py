"""Phase 1's door by its own stack: the share is a setting of it, and each proxy shows the one that it has."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.commands import run
from rackwright.rollout.platform.stack import PulumiStack
from rackwright.rollout.traffic import Shares

SHARE = "rackwright/share"  # as components/gateway/objects.py has it
PROXIES = ("get", "pods", "-n", "gateway", "-l", "app.kubernetes.io/name=envoy", "-o", "json")
ANSWER_S = 30
MOMENT_S, PAUSE_S = 60.0, 0.5


@dataclass(frozen=True)
class PulumiDoor:
    """`kubectl` is the command with phase 1's kubeconfig."""

    stack: PulumiStack
    kubectl: Sequence[str]
    sleep: Callable[[float], None] = time.sleep

    def shares(self) -> Shares:
        """What the proxies that take requests do now."""
        told = run([*self.kubectl, *PROXIES], self.stack.root, self.stack.environment, ANSWER_S)
        return shares_of(json.loads(told))

    def put(self, percent: int) -> None:
        """Set it and bring the stack there: proxies are replaced one by one, and the end is waited for.

        Pulumi waits for the new ones; the last of the old may be told to end a moment later.
        """
        self.stack.set("share", str(percent))
        self.stack.up()
        for _ in range(int(MOMENT_S / PAUSE_S)):
            if (found := self.shares()) == Shares(percent, percent):
                return
            self.sleep(PAUSE_S)
        raise Refusal(
            f"The stack is up, and {found.least} to {found.most} % of sessions go on, not {percent} %.",
            "See kubectl -n gateway get pods; then run the same command again.",
        )


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
