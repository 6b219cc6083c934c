"""Ansible inside a rack's namespace: the site's own inventory, and a run read back as figures a host."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackwright.guests.keys import USER, KeyRing
from rackwright.guests.namespace import ROOT, Namespace
from rackwright.sandbox.locks import Progress, silence

RECAP = re.compile(r"^(?P<host>\S+)\s+: (?P<figures>(?:\w+=\d+\s*)+)$")
TASK = re.compile(r"^(?:TASK|RUNNING HANDLER|PLAY) \[(?P<name>.*?)\] \**$")
OUTCOME = re.compile(r"^(?P<kind>changed|fatal|failed|unreachable): \[(?P<host>[^\]]+)\]")
FAULT = re.compile(r"^(\[ERROR\]|ERROR|fatal:)")
PATIENCE_S = 240  # for a connection; preflight has little with machines, and an emulated one may start Python as slowly
PLAIN = {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "0"}


@dataclass
class Ran:
    """How a playbook ended: the recap's figures by host, the tasks that changed or failed, and all that was said."""

    code: int = 0
    said: str = ""
    stats: dict[str, dict[str, int]] = field(default_factory=dict)
    changed: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, list[str]] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """True where Ansible says so."""
        return self.code == 0

    def last_words(self, count: int = 60) -> list[str]:
        """What the first task with a fault said, or what was said at the end where none was told."""
        lines = [line.rstrip() for line in self.said.splitlines() if line.strip()]
        fault = next((number for number, line in enumerate(lines) if FAULT.match(line)), None)
        if fault is None:
            return lines[-count:]
        task = next((number for number in range(fault, -1, -1) if TASK.match(lines[number])), fault)
        return lines[max(task, fault - count // 2) :][:count]

    def demand(self) -> Ran:
        """The run itself, where it succeeded; AssertionError with its last words where it did not."""
        if self.code:
            raise AssertionError(f"Ansible ended with {self.code}:\n{self.said[-6000:]}")
        return self


@dataclass(frozen=True)
class Ansible:
    """How playbooks reach the guests: at their own addresses, with the rack's key."""

    site: Path
    namespace: Namespace
    keys: KeyRing

    def variables(self) -> dict[str, Any]:
        """What is passed with -e; the inventory stays what it is."""
        return {
            "ansible_user": USER,
            "ansible_ssh_private_key_file": str(self.keys.key),
            "ansible_ssh_common_args": shlex.join(self.keys.options()),
            "ansible_ssh_timeout": PATIENCE_S,
        }

    def environment(self) -> dict[str, str]:
        """No connection of another rack's, or of the real one's, is used: their addresses are the same."""
        inherited = {key: value for key, value in self.namespace.environment().items() if key != "ANSIBLE_CONFIG"}
        sockets = self.keys.sockets
        multiplexing = {"ANSIBLE_SSH_CONTROL_PATH_DIR": str(sockets)} if sockets else {"ANSIBLE_SSH_ARGS": ""}
        path = f"{Path(sys.executable).parent}{os.pathsep}{inherited.get('PATH', os.defpath)}"
        return {**inherited, **PLAIN, **multiplexing, "PATH": path}

    def playbook(
        self,
        playbook: str | Path,
        *options: str,
        limit: Sequence[str] = (),
        variables: Mapping[str, Any] | None = None,
        progress: Progress = silence,
    ) -> Ran:
        """Run a playbook, named from the checkout's root, to its end; each task is told when it begins."""
        with self.start(playbook, *options, limit=limit, variables=variables) as process:
            try:
                return _followed(process, progress)
            finally:
                if process.poll() is None:
                    process.terminate()

    def start(
        self,
        playbook: str | Path,
        *options: str,
        limit: Sequence[str] = (),
        variables: Mapping[str, Any] | None = None,
    ) -> subprocess.Popen[str]:
        """Begin with a playbook; who starts one reads what it says, or ends it."""
        given = {**self.variables(), **(variables or {})}
        program = Path(sys.executable).with_name("ansible-playbook")
        command = [str(program), "-i", str(self.site.absolute()), str(playbook), "-e", json.dumps(given), *options]
        command += ["--limit", ",".join(limit)] if limit else []
        return subprocess.Popen(
            [*self.namespace.entering(), *command],
            cwd=ROOT,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )


def _followed(process: subprocess.Popen[str], progress: Progress) -> Ran:
    """Read a run to its end."""
    lines: list[str] = []
    for line in process.stdout or ():
        lines.append(line)
        if task := TASK.match(line.rstrip()):
            progress(task["name"].rpartition(" : ")[2])
    return read(process.wait(), "".join(lines))


def read(code: int, said: str) -> Ran:
    """What a run's words say."""
    ran, task = Ran(code, said), ""
    for line in said.splitlines():
        if found := TASK.match(line):
            task = found["name"]
        elif found := OUTCOME.match(line):
            kinds = ran.changed if found["kind"] == "changed" else ran.failed
            kinds.setdefault(found["host"].partition(" ")[0], []).append(task)
        elif found := RECAP.match(line.rstrip()):
            figures = (pair.split("=") for pair in found["figures"].split())
            ran.stats[found["host"]] = {name: int(number) for name, number in figures}
    return ran
