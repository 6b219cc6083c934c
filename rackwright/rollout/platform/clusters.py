"""A phase's cluster as it is: whether it serves, which nodes it has, and its Prometheus through its API."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from rackwright.checks import check
from rackwright.checks.access import Access
from rackwright.checks.findings import Outcome
from rackwright.errors import Refusal
from rackwright.observe.prometheus import Prometheus
from rackwright.rollout.gates import Reading
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

PROXY = "/api/v1/namespaces/monitoring/services/prometheus-operated:web/proxy"
MOST_SAID = 3


@dataclass(frozen=True)
class Serves:
    """The gates `phase-1-serves` and `phase-2-serves`: the checks of `rackwright check`."""

    site: Site
    phase: Phase
    kubeconfig: Path
    kubectl: Path | str
    keys: Mapping[str, str] = field(repr=False)

    def __call__(self) -> Reading:
        """Check it now; what cannot be seen is no fault, and is counted."""
        verdict = check(self.site, self.phase, Catalog.load(), self.kubeconfig, self.kubectl, self.keys)
        failed = [each for each in verdict.checks if each.outcome is Outcome.FAILED]
        faults = [
            f"{finding.where} {finding.what}"
            for each in failed
            for finding in each.findings
            if finding.outcome is Outcome.FAILED
        ]
        more = [f"and {len(faults) - MOST_SAID} more"] if len(faults) > MOST_SAID else []
        return Reading(not failed, "; ".join([verdict.summary(), *faults[:MOST_SAID], *more]), "no check fails")


@dataclass(frozen=True)
class Nodes:
    """A cluster's nodes by their names."""

    kubeconfig: Path
    kubectl: Path | str

    def ready(self) -> dict[str, bool]:
        """Each node, and whether it is Ready; Refusal where the API does not answer."""
        nodes: list[dict[str, Any]] = json.loads(Access(self.kubeconfig, self.kubectl).raw("/api/v1/nodes"))["items"]
        return {node["metadata"]["name"]: is_ready(node) for node in nodes}

    def answers(self) -> bool:
        """Whether there is a cluster behind the file at all."""
        try:
            self.ready()
        except Refusal:
            return False
        return True


def is_ready(found: Mapping[str, Any]) -> bool:
    """Whether a node or a pod says that it is Ready."""
    conditions: Sequence[Mapping[str, Any]] = found.get("status", {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


class Behind(Prometheus):
    """A cluster's Prometheus, asked through the cluster's API: nobody needs to open a way to it."""

    def __init__(self, access: Access) -> None:
        super().__init__("https://prometheus.invalid")
        self._access = access

    def _ask(self, what: str, **asked: object) -> list[dict[str, Any]]:
        try:
            answer = json.loads(self._access.raw(f"{PROXY}/api/v1/{what}?{urlencode(asked)}"))
            result: list[dict[str, Any]] = answer["data"]["result"]
        except (ValueError, LookupError, TypeError):
            raise Refusal(
                "What answers in place of the cluster's Prometheus is none.", "See kubectl -n monitoring get pods."
            ) from None
        return result
