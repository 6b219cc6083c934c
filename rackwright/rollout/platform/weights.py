"""`copy/weights`: engines of phase 2 bring their weights onto the hosts that serve them; ready ones have them."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.checks.access import Access
from rackwright.errors import Refusal
from rackwright.rollout.gates import Reading
from rackwright.rollout.platform.clusters import is_ready
from rackwright.rollout.world import Found, State

PODS = "/api/v1/namespaces/models/pods"
EVERY_S = 15.0
LONGEST_S = 6 * 3600  # hundreds of gigabytes over a slow line


@dataclass(frozen=True)
class Weights:
    """`models` must be there; of all others that are, each engine must be ready as well."""

    access: Access
    models: Sequence[str]
    progress: Callable[[str], None]
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def look(self) -> Found:
        """Done where every engine is ready."""
        pods = self._engines()
        missing = [model for model in self.models if not any(model in _names(pod) for pod in pods)]
        waiting = [pod["metadata"]["name"] for pod in pods if not is_ready(pod)]
        if len(missing) == len(self.models):
            return Found(State.ABSENT, "no engine is there yet")
        if missing or waiting:
            return Found(State.TO_FINISH, f"not ready: {', '.join([*missing, *waiting][:4])}")
        return Found(State.DONE, f"{len(pods)} engines are ready")

    def do(self) -> None:
        """Wait for them; Refusal with who is not ready after hours."""
        end, said = self.clock() + LONGEST_S, ""
        while (found := self.look()).state is not State.DONE:
            if self.clock() > end:
                raise Refusal(f"After {LONGEST_S // 3600} hours: {found.words}.", "kubectl -n models describe pods")
            if found.words != said:
                self.progress(f"copy/weights: {found.words}")
                said = found.words
            self.sleep(EVERY_S)

    def undo(self) -> None:
        """They lie on drives that nobody else uses."""

    def there(self) -> Reading:
        """The gate `weights-there`."""
        found = self.look()
        return Reading(found.state is State.DONE, found.words, "every engine of phase 2 is ready")

    def _engines(self) -> list[dict[str, Any]]:
        pods: list[dict[str, Any]] = json.loads(self.access.raw(PODS))["items"]
        return [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]


def _names(pod: dict[str, Any]) -> set[str]:
    """Labels by which our engines and KServe's bear their model's name."""
    labels = pod["metadata"].get("labels") or {}
    return {labels.get(f"app.kubernetes.io/{which}", "") for which in ("instance", "name")}
