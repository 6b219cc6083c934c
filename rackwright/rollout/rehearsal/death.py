"""A node of phase 2 dies after the rollout's end: what is lost, what stays inside its budget, how it comes back."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.platform.clusters import is_ready
from rackwright.rollout.postgres.cluster import KIND, NAMESPACE
from rackwright.rollout.postgres.objects import CLUSTER
from rackwright.rollout.rehearsal.ground import Cluster
from rackwright.rollout.way import Way

# By namespace, the label of its pods and how many of them must be Ready whatever node is away.
KEPT: Mapping[str, tuple[str, int]] = MappingProxyType(
    {
        "gateway": ("app.kubernetes.io/name=envoy", 1),
        "qdrant": ("app.kubernetes.io/name=qdrant", 2),
        "postgres": ("cnpg.io/cluster=postgres", 2),
        "router": ("app.kubernetes.io/name=llm-d-router", 2),
    }
)
INSTANCES = KEPT["postgres"][0]
BACK_S, LOOK_S = 60.0, 0.5
Object = dict[str, Any]


@dataclass(frozen=True)
class Death:
    """What came of it; `kept` are Ready pods by namespace while it was away, `back` what checks said afterwards."""

    node: str
    lost: str
    kept: Mapping[str, int]
    back: str
    is_whole: bool
    back_s: float

    @property
    def well(self) -> bool:
        """The checks saw it, data and gateway stayed inside their budgets, and all of it came back."""
        return bool(self.lost) and self.is_whole and all(self.kept[name] >= least for name, (_, least) in KEPT.items())

    @property
    def words(self) -> list[str]:
        """Lines of the report."""
        kept = (f"{name} {self.kept[name]} ready, at least {least}" for name, (_, least) in KEPT.items())
        return [
            f"{self.node} was taken away: {self.lost or 'no check saw it'}",
            f"stayed: {'; '.join(kept)}",
            f"{self.node} came back: {self.back}, after {self.back_s:.1f} s",
        ]

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "node": self.node, "lost": self.lost, "kept": dict(self.kept), "back": self.back, "well": self.well,
            "back_s": round(self.back_s, 1),
        }  # fmt: skip


def dying(way: Way) -> str:
    """Whose death is rehearsed: the first inference host of phase 2 that is new."""
    return next(host.name for host in way.new if "inference" in host.roles)


def die(cluster: Cluster, node: str) -> Death:
    """Take it away with its pods, look, and give it back."""
    instances = _pods(cluster, NAMESPACE, INSTANCES)
    cluster.power_off([node])
    seen = cluster.checked()
    kept = {name: len(_ready(_pods(cluster, name, label))) for name, (label, _) in KEPT.items()}
    began = time.monotonic()
    cluster.power_on([node])
    _make_again(cluster, instances)
    whole = cluster.serves()
    return Death(
        node, "" if seen.passed else _named(seen.seen), kept, whole.seen, whole.passed, time.monotonic() - began
    )


def _named(seen: str) -> str:
    """What is lost, without the reasons, which are a scheduler's and long."""
    return "; ".join(each.partition(": ")[0] for each in seen.split("; "))


def _pods(cluster: Cluster, namespace: str, label: str) -> list[Object]:
    return cluster.plane.kubectl.get("pods", namespace=namespace, labels=label)


def _ready(pods: list[Object]) -> list[Object]:
    return [pod for pod in pods if is_ready(pod)]


def _make_again(cluster: Cluster, before: list[Object]) -> None:
    """What CloudNativePG does for an instance that is gone, and no Stage plays: it makes and counts it."""
    kubectl = cluster.plane.kubectl
    there = {pod["metadata"]["name"] for pod in _pods(cluster, NAMESPACE, INSTANCES)}
    for pod in before:
        if pod["metadata"]["name"] not in there:
            kubectl("create", "--filename=-", given=json.dumps(_fresh(pod)))
    deadline = time.monotonic() + BACK_S
    while len(_ready(_pods(cluster, NAMESPACE, INSTANCES))) < len(before):
        if time.monotonic() > deadline:
            raise Refusal("An instance of PostgreSQL found no room again.", "See kubectl -n postgres get pods.")
        time.sleep(LOOK_S)
    counted = json.dumps({"status": {"readyInstances": len(before)}})
    where = (f"--namespace={NAMESPACE}", "--subresource=status", "--type=merge")
    kubectl("patch", KIND, CLUSTER, *where, f"--patch={counted}")


def _fresh(pod: Object) -> Object:
    kept = ("name", "namespace", "labels", "annotations", "ownerReferences")
    metadata = {key: pod["metadata"][key] for key in kept if key in pod["metadata"]}
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
