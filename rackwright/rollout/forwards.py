"""Ways to pods from where the rollout runs: `kubectl port-forward`, one a pod, for as long as this process lives."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import overload

from rackwright.errors import Refusal
from rackwright.rollout.commands import run
from rackwright.rollout.qdrant.store import Missing

ANSWER_S = 60
# Its input is ours: when this process ends, however it does, that closes, and the way with it.
FOR_AS_LONG = ("sh", "-c", '"$@" & way=$!; cat > /dev/null; kill $way', "sh")


@dataclass
class Forwards(Sequence[str]):
    """An address of this machine for each pod of a label, opened when the first is asked for."""

    kubectl: Sequence[str]
    namespace: str
    label: str
    port: int
    environment: Mapping[str, str] | None = None
    _open: list[str] = field(default_factory=list, init=False)
    _ways: list["subprocess.Popen[str]"] = field(default_factory=list, init=False)

    def __len__(self) -> int:
        return len(self._opened())

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._opened()[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._opened())

    def close(self) -> None:
        """End them."""
        for way in self._ways:
            if way.stdin:
                way.stdin.close()
            way.wait(ANSWER_S)
        self._ways, self._open = [], []

    def _opened(self) -> list[str]:
        if not self._open:
            command = [*self.kubectl, f"--namespace={self.namespace}"]
            found = run(
                [*command, "get", "pods", f"--selector={self.label}", "--output=json"],
                Path.cwd(),
                self.environment,
                ANSWER_S,
            )
            pods = [
                pod["metadata"]["name"] for pod in json.loads(found)["items"] if pod["status"].get("phase") == "Running"
            ]
            if not pods:
                volumes = [*command, "get", "persistentvolumeclaims", "--output=name"]
                if not run(volumes, Path.cwd(), self.environment, ANSWER_S).strip():
                    raise Missing(f"There is no {self.label}, nor a volume of one.", "The stage platform lays it.")
                raise Refusal(f"No pod of {self.label} runs.", f"See kubectl -n {self.namespace} get pods.")
            self._open = [
                self._forward([*command, "port-forward", f"pod/{name}", f":{self.port}"]) for name in sorted(pods)
            ]
        return self._open

    def _forward(self, command: Sequence[str]) -> str:
        way = subprocess.Popen(
            [*FOR_AS_LONG, *command],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # a key that interrupts us does not cut the ways by which we tidy up
        )
        self._ways.append(way)
        said = way.stdout.readline() if way.stdout else ""
        port = re.search(r"127\.0\.0\.1:(\d+)", said)
        if port is None:
            raise Refusal(f"There is no way to {command[-2]}.", f"See what {' '.join(command[-3:])} says.")
        return f"http://127.0.0.1:{port[1]}"
