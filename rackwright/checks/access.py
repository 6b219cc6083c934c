"""Reading a cluster through kubectl, with whatever credentials the kubeconfig holds."""

import base64
import json
import subprocess
from pathlib import Path

from rackwright.checks.objects import READ_BY_US, Object, Objects
from rackwright.command_line import command_line
from rackwright.errors import Refusal

PATIENCE_S = 30
HELM = "helm.sh/release.v1"  # what Helm remembers of a release: large, and of no use here


class Access:
    """One cluster, read-only."""

    def __init__(self, kubeconfig: Path, kubectl: Path | str = "kubectl", cache: Path | None = None) -> None:
        self._kubeconfig = kubeconfig
        self._kubectl = str(kubectl)
        self._cache = cache or kubeconfig.parent / "cache"

    def objects(self) -> Objects:
        """Everything that checks look at, of the kinds that this cluster knows."""
        known = set(self._run("api-resources", "--verbs=list", "--output=name").split())
        kinds = [name for name in READ_BY_US.values() if name in known and name != "secrets"]
        read = self._list(",".join(kinds))
        return Objects([*read, *self._list("secrets", f"--field-selector=type!={HELM}")])

    def raw(self, path: str) -> str:
        """What the API server answers at a path, its proxies to Services included."""
        return self._run("get", "--raw", path)

    def secret(self, namespace: str, name: str, key: str) -> str:
        """One value of a Secret, as text."""
        found = json.loads(self._run("get", "secret", name, "--namespace", namespace, "--output=json"))
        return base64.b64decode((found.get("data") or {}).get(key, "")).decode()

    def _list(self, kinds: str, *more: str) -> list[Object]:
        items: list[Object] = json.loads(self._run("get", kinds, "--all-namespaces", "--output=json", *more))["items"]
        return items

    def _run(self, *arguments: str) -> str:
        if not self._kubeconfig.is_file():
            wrong = "is no file" if self._kubeconfig.exists() else "is not there"
            raise Refusal(
                f"The kubeconfig {self._kubeconfig} {wrong}.",
                "Copy it there from the cluster, or name another with --kubeconfig.",
            )
        which = f"--kubeconfig={self._kubeconfig}"  # the variable KUBECONFIG would be a list, split at colons
        command = [self._kubectl, which, f"--cache-dir={self._cache}", f"--request-timeout={PATIENCE_S}s", *arguments]
        try:
            # without an input kubectl asks nobody for the user name that a kubeconfig lacks
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        except OSError as error:
            raise Refusal(
                f"kubectl cannot be run: {error.strerror}.", "Install kubectl, or run `rackwright env`."
            ) from None
        if done.returncode:
            said = " ".join(line.strip() for line in done.stderr.splitlines() if line.strip())
            raise Refusal(
                f"The cluster of {self._kubeconfig} did not answer: {said.rstrip('.') or 'kubectl did not say why'}.",
                f"See whether it is reached at all: {command_line('kubectl', which, 'get', 'nodes')}",
            )
        return done.stdout
