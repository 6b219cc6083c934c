"""Talking to a cluster through kubectl, which knows every kind that the cluster knows."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rackwright.errors import Refusal

FIELD_MANAGER = "rackwright"


class Kubectl:
    """One cluster, reached with one kubeconfig."""

    def __init__(self, program: Path, kubeconfig: Path) -> None:
        self.program = program
        self.kubeconfig = kubeconfig

    def __call__(self, *arguments: str, given: str | None = None) -> str:
        """What kubectl prints; a Refusal with its own words if it fails."""
        done = subprocess.run(
            [self.program, *arguments],
            input=given,
            capture_output=True,
            text=True,
            check=False,
            env={
                **os.environ,
                "KUBECONFIG": str(self.kubeconfig),
                "KUBECACHEDIR": str(self.kubeconfig.parent / "cache"),
            },
        )
        if done.returncode:
            said = " ".join(line.strip() for line in done.stderr.splitlines() if line.strip()) or "it did not say why"
            raise Refusal(
                f"kubectl {' '.join(arguments[:2])} failed: {said}",
                f"Look for yourself: KUBECONFIG={self.kubeconfig} {self.program} {' '.join(arguments)}",
            )
        return done.stdout

    def apply(self, objects: Iterable[Mapping[str, Any]]) -> None:
        """Make all objects so, in one call; what others have set in other fields stays."""
        items = list(objects)
        if items:
            bundle = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
            self(
                "apply",
                "--server-side",
                "--force-conflicts",
                f"--field-manager={FIELD_MANAGER}",
                "-f",
                "-",
                given=bundle,
            )

    def get(self, kind: str, *, namespace: str | None = None, labels: str | None = None) -> list[dict[str, Any]]:
        """The objects of a kind, of every namespace unless one is named."""
        where = ("--namespace", namespace) if namespace else ("--all-namespaces",)
        which = ("--selector", labels) if labels else ()
        found: list[dict[str, Any]] = json.loads(self("get", kind, *where, *which, "--output=json"))["items"]
        return found

    def delete(self, kind: str, name: str, *, namespace: str | None = None) -> None:
        """Delete an object and wait until it is gone; one that is not there is gone."""
        where = ("--namespace", namespace) if namespace else ()
        self("delete", kind, name, *where, "--ignore-not-found")

    def wait_for(self, *what: str, condition: str, namespace: str | None = None, seconds: float = 60) -> None:
        """Wait until objects, each written kind/name, have a condition; a Refusal when the time is up.

        `condition` is kubectl's: a condition's name, or `jsonpath={...}=value`.
        """
        where = ("--namespace", namespace) if namespace else ()
        sign = condition if condition.startswith("jsonpath=") or condition == "delete" else f"condition={condition}"
        self("wait", *what, *where, f"--for={sign}", f"--timeout={seconds:g}s")
