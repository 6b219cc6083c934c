"""One phase's stack of one site, by Pulumi's own command."""

import json
import os
import re
import socket
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.commands import SaysNo, run
from rackwright.site.hosts import Phase

ANSWER_S = 120
DEFAULT_SITE = "inventory/example"  # as Pulumi.yaml has it
NO_STACK = re.compile(r"no stack named .* found")
NO_SETTING = re.compile(r"configuration key .* not found")
LOCK = re.compile(r"created by \S*@(?P<host>\S+) \(pid (?P<process>\d+)\)")  # pulumi/pkg, backend/diy/lock.go


@dataclass(frozen=True)
class State:
    """What a stack says of itself: how many resources, what it shows, and what an update left half-way."""

    resources: int
    outputs: Mapping[str, Any]
    pending: int


@dataclass(frozen=True)
class PulumiStack:
    """`root` is the checkout; `options` say where the stack's settings lie, where that is not their usual place."""

    site: Path
    phase: Phase
    root: Path
    options: Sequence[str] = ()
    environment: Mapping[str, str] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """Of the stack."""
        return f"phase{self.phase}"

    def state(self) -> State | None:
        """What is there; None where there is no such stack."""
        try:
            told = json.loads(self._run(["stack", "export", "-s", self.name], ANSWER_S))["deployment"]
        except SaysNo as refusal:
            if NO_STACK.search(refusal.said):
                return None
            raise
        resources = told.get("resources") or []
        own: dict[str, Any] = next((each for each in resources if each["type"] == "pulumi:pulumi:Stack"), {})
        made = [each for each in resources if not each["type"].startswith("pulumi:")]
        return State(len(made), own.get("outputs") or {}, len(told.get("pending_operations") or []))

    def make(self) -> None:
        """Make the stack where there is none, for this site; Refusal where it is another site's."""
        if self.state() is None:
            self._run(["stack", "init", self.name, "--no-select", "--non-interactive"], ANSWER_S)
            self.set("site", str(self.site.resolve()))
        self._refuse_another_site()

    def get(self, setting: str) -> str:
        """A setting of rackwright's; nothing where it is not set."""
        try:
            return self._run(["config", "get", f"rackwright:{setting}", *self._how], ANSWER_S).strip()
        except SaysNo as refusal:
            if NO_SETTING.search(refusal.said):
                return ""
            raise

    def set(self, setting: str, value: str) -> None:
        """Set it, or take it away where the value is empty."""
        act = ["set", f"rackwright:{setting}", value] if value else ["rm", f"rackwright:{setting}"]
        if value or self.get(setting):
            self._run(["config", *act, *self._how], ANSWER_S)

    def up(self) -> None:
        """Bring everything there, and wait until it is."""
        self._refuse_another_site()
        self._change("up", "--skip-preview")

    def destroy(self) -> None:
        """Take everything away; the stack stays, empty."""
        self._refuse_another_site()
        self._change("destroy", "--skip-preview")

    def _change(self, act: str, *more: str) -> None:
        command = [act, "--yes", *more, "--non-interactive", "--color", "never", *self._how]
        try:
            self._run(command)
        except SaysNo as refusal:
            if not _is_left_behind(refusal.said):
                raise
            self._run(["cancel", "--yes", "-s", self.name], ANSWER_S)
            self._run(command)

    def _refuse_another_site(self) -> None:
        found = self.root / (self.get("site") or DEFAULT_SITE)
        folder = found.parent if found.is_file() else found
        if folder.resolve() != self.site.resolve():
            raise Refusal(
                f"The stack {self.name} of this checkout is that of {found}, not of {self.site}.",
                f"Use the checkout that laid this site, or set it: pulumi config set -s {self.name} rackwright:site "
                f"{self.site}.",
            )

    @property
    def _how(self) -> tuple[str, ...]:
        return ("-s", self.name, *self.options)

    def _run(self, arguments: Sequence[str], patience_s: float | None = None) -> str:
        given = os.environ if self.environment is None else self.environment
        with tempfile.TemporaryDirectory(prefix="rackwright-") as folder:  # the provider leaves what opens the cluster
            return run(["pulumi", *arguments], self.root, {**given, "TMPDIR": folder}, patience_s)


def _is_left_behind(said: str) -> bool:
    """True where the stack is locked by processes of this machine that are gone; those that live are waited for."""
    found = list(LOCK.finditer(said))
    return bool(found) and all(
        each["host"] == socket.gethostname() and not Path("/proc", each["process"]).exists() for each in found
    )
