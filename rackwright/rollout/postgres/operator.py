"""Backups of a cluster's PostgreSQL, by the operator: a Backup, and beside the server a Cluster that recovers from it.

The objects are those of CloudNativePG 1.30 with its plugin for Barman. The recovered cluster is one instance with a
volume as large as the server's; it archives nothing itself, so the server's own backups are not touched.
"""

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.commands import run
from rackwright.rollout.postgres.cluster import NAMESPACE
from rackwright.rollout.postgres.objects import CLUSTER
from rackwright.rollout.postgres.server import Console, Server

RESTORED = "restored"
PLUGIN, STORE = "barman-cloud.cloudnative-pg.io", "backups"
ANSWER_S, TAKEN_S, RESTORED_S, EVERY_S = 60, 4 * 3600, 4 * 3600, 5
Object = dict[str, Any]


def backup(name: str) -> Object:
    """One backup, now."""
    spec = {"cluster": {"name": CLUSTER}, "method": "plugin", "pluginConfiguration": {"name": PLUGIN}}
    return _object("Backup", name, spec)


def recovered(server: Object, archive: str) -> Object:
    """A cluster from the newest backup of an archive, of the server's release and size."""
    spec = server["spec"]
    parameters = {"barmanObjectName": STORE, "serverName": archive}
    kept = {key: spec[key] for key in ("imageName", "storage", "walStorage", "resources") if key in spec}
    return _object(
        "Cluster",
        RESTORED,
        {
            "instances": 1,
            "enablePDB": False,
            **kept,
            "bootstrap": {"recovery": {"source": archive}},
            "externalClusters": [{"name": archive, "plugin": {"name": PLUGIN, "parameters": parameters}}],
            "postgresql": {"parameters": spec.get("postgresql", {}).get("parameters", {})},
        },
    )


def way_out(policy: Object) -> Object:
    """The way to the object storage that the server has, for the recovered cluster's pods."""
    spec = {**policy["spec"], "podSelector": {"matchLabels": {"cnpg.io/cluster": RESTORED}}}
    return {"apiVersion": policy["apiVersion"], "kind": policy["kind"], "metadata": {"name": RESTORED}, "spec": spec}


@dataclass(frozen=True)
class OperatorBackups:
    """`kubectl` is the command with its kubeconfig, `archive` the server's folder in the object storage."""

    kubectl: Sequence[str]
    archive: str
    environment: Mapping[str, str] | None = None
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    @property
    def server(self) -> Server:
        """The primary, by the psql in its own pod."""
        return self._console(CLUSTER)

    def take(self) -> None:
        """A Backup, and its end waited for."""
        name = f"rollout-{self.now():%Y%m%d%H%M%S}"
        self._apply(backup(name))
        deadline = self.clock() + TAKEN_S
        while (status := self._get("backup", name).get("status", {})).get("phase") != "completed":
            if status.get("phase") in ("failed", "walArchivingFailing"):
                why = " ".join(str(status.get("error", "without a reason")).split())[:300].rstrip(".")
                raise Refusal(f"The backup {name} failed: {why}.", "See the operator's log and the object storage.")
            if self.clock() > deadline:
                raise Refusal(f"The backup {name} is not whole after {TAKEN_S} s.", "See the operator's log.")
            self.sleep(EVERY_S)

    def restore(self) -> Server:
        """A Cluster of its own."""
        self.remove()
        self._apply(way_out(self._get("networkpolicy", STORE)))
        self._apply(recovered(self._get("cluster", CLUSTER), self.archive))
        ready = ("wait", f"cluster/{RESTORED}", "--for=condition=Ready", f"--timeout={RESTORED_S}s")
        self._run(*ready, patience_s=RESTORED_S + ANSWER_S)
        return self._console(RESTORED)

    def is_left(self) -> bool:
        """Whether the Cluster, or a volume of it, is there."""
        label = f"--selector=cnpg.io/cluster={RESTORED}"
        kinds = ("get", "pods,persistentvolumeclaims", label, "--output=name")
        names = ("get", f"cluster/{RESTORED}", f"networkpolicy/{RESTORED}", "--ignore-not-found", "--output=name")
        return bool(self._run(*names) or self._run(*kinds))

    def remove(self) -> None:
        """The operator removes pods and volumes with it."""
        for kind in ("cluster", "networkpolicy"):
            self._run("delete", kind, RESTORED, "--ignore-not-found", "--wait=true", patience_s=ANSWER_S * 5)

    def _console(self, cluster: str) -> Console:
        found = self._get("cluster", cluster).get("status", {}).get("currentPrimary")
        if not found:
            raise Refusal(
                f"The cluster {cluster} has no primary.", f"See kubectl -n {NAMESPACE} get cluster {cluster}."
            )
        inside = ("exec", "--stdin", found, "--container=postgres", "--", "psql", "--username=postgres")
        return Console(cluster, [*self.kubectl, f"--namespace={NAMESPACE}", *inside], self.environment)

    def _get(self, kind: str, name: str) -> Object:
        found: Object = json.loads(self._run("get", kind, name, "--output=json"))
        return found

    def _apply(self, wanted: Object) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "object.json")
            file.write_text(json.dumps(wanted), encoding="utf-8")
            self._run("apply", f"--filename={file}")

    def _run(self, *words: str, patience_s: float = ANSWER_S) -> str:
        command = [*self.kubectl, f"--namespace={NAMESPACE}", *words]
        return run(command, Path.cwd(), self.environment, patience_s).strip()


def _object(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": "postgresql.cnpg.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
