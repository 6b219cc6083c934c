"""One phase's PostgreSQL by its operator: the Cluster and what is beside it, through kubectl."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackwright.rollout.commands import SaysNo, run
from rackwright.rollout.postgres.objects import CLUSTER, Patch, Side
from rackwright.rollout.postgres.server import Console
from rackwright.site.postgresql import STACKS_FIELDS

NAMESPACE = "postgres"  # as components/postgres has it
KIND = "clusters.postgresql.cnpg.io"
FIELD_MANAGER = "rackwright-rollout"  # what is applied under it is the rollout's, and no stack's
HALF_MADE = "rackwright/founding"  # the annotation of a Cluster that no stack has taken up yet
NUDGED = "rackwright/looked-at"
ANSWER_S, GONE_S, RUNNING_S = 60, 300, 5
UNKNOWN = "the server doesn't have a resource type"
Object = dict[str, Any]


@dataclass(frozen=True)
class PhaseCluster:
    """`kubectl` is the command with its kubeconfig; `title` is what people call the server."""

    title: str
    side: Side
    kubectl: Sequence[str]
    environment: Mapping[str, str] | None = field(default=None, repr=False)

    @property
    def server(self) -> Console:
        """Its primary, or of a copy the one in its place: by the psql in the pod behind the operator's Service."""
        pod = (f"service/{CLUSTER}-rw", "--container=postgres", f"--pod-running-timeout={RUNNING_S}s")
        inside = ("exec", "--stdin", *pod, "--", "psql", "--username=postgres")
        return Console(self.title, [*self.kubectl, f"--namespace={NAMESPACE}", *inside], self.environment)

    def found(self) -> Object | None:
        """The Cluster; None where there is none, nor ever was a kind of that name."""
        return self._get(KIND, CLUSTER)

    def has_volumes(self) -> bool:
        """Whether anything of a server is left."""
        label = f"--selector=cnpg.io/cluster={CLUSTER}"
        return bool(self._run("get", "persistentvolumeclaims", label, "--output=name"))

    def say(self, wanted: Patch, *, is_half: bool = False) -> None:
        """All that the rollout says of the Cluster; what it said before and says no more is gone."""
        self.apply(_cluster(wanted, {HALF_MADE: "true"} if is_half else {}))

    def make(self, wished: Object, wanted: Patch) -> None:
        """Make it of what its stack would say and what the rollout says, all under the stack's name.

        A second name would be in the stack's way: lists that the API fills up never equal what is said again.
        """
        annotations = {**wished["metadata"].get("annotations", {}), HALF_MADE: "true"}
        self.apply(_cluster({"spec": {**wished["spec"], **wanted["spec"]}}, annotations), under=STACKS_FIELDS)

    def nudge(self, number: int) -> None:
        """Let the operator look again: of a server that ended it asks only now and then."""
        self._run("annotate", f"{KIND}/{CLUSTER}", f"{NUDGED}={number}", "--overwrite")

    def secrets(self, *names: str) -> Mapping[str, Mapping[str, str]]:
        """What Secrets hold, by name and as the API has it; those that are not there are not told of."""
        told = self._run("get", "secret", *names, "--ignore-not-found", "--output=json")
        found: Object = json.loads(told) if told else {"items": []}
        return {each["metadata"]["name"]: each.get("data") or {} for each in found.get("items", [found])}

    def has(self, kind: str, name: str) -> bool:
        """Whether it is there."""
        return self._get(kind, name) is not None

    def apply(self, *wanted: Object, under: str = FIELD_MANAGER) -> None:
        """Make them so. They go in by standard input: a command line can be read by everybody.

        The API judges what comes of it; kubectl alone would miss what others have said of the same object.
        """
        given = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(wanted)})
        how = ("--server-side", "--force-conflicts", "--validate=false", f"--field-manager={under}")
        self._run("apply", *how, "--filename=-", given=given)

    def delete(self, kind: str, *names: str) -> None:
        """Take them away, and wait until they are gone."""
        self._run("delete", kind, *names, "--ignore-not-found", "--wait=true", patience_s=GONE_S)

    def _get(self, kind: str, name: str) -> Object | None:
        try:
            told = self._run("get", kind, name, "--ignore-not-found", "--output=json")
        except SaysNo as refusal:
            if UNKNOWN not in refusal.said:
                raise
            return None
        found: Object | None = json.loads(told) if told else None
        return found

    def _run(self, *words: str, patience_s: float = ANSWER_S, given: str = "") -> str:
        command = [*self.kubectl, f"--namespace={NAMESPACE}", *words]
        return run(command, Path.cwd(), self.environment, patience_s, given).strip()


def _cluster(wanted: Patch, annotations: Mapping[str, str]) -> Object:
    metadata: Object = {"name": CLUSTER} | ({"annotations": dict(annotations)} if annotations else {})
    return {"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "metadata": metadata, **wanted}
