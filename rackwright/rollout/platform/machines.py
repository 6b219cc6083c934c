"""The steps on machines, by the playbooks that `rackwright provision`, `node add` and `reset` run."""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import Refusal
from rackwright.playbook import Ended
from rackwright.playbook import run as run_playbook
from rackwright.provisioning.node import node
from rackwright.provisioning.outcome import Outcome, outcome
from rackwright.provisioning.plan import Plan
from rackwright.provisioning.provision import provision
from rackwright.provisioning.reset import reset
from rackwright.rollout.gates import Reading
from rackwright.rollout.lock import kept
from rackwright.rollout.platform.clusters import Nodes
from rackwright.rollout.way import Way, names
from rackwright.rollout.world import Found, State
from rackwright.site.hosts import Phase

Progress = Callable[[str], None]
Run = Callable[..., Ended]


@dataclass(frozen=True)
class Playbooks:
    """Ansible on one site's folder; whoever it works for holds the rollout until it has ended."""

    site: Path
    progress: Progress
    run: Run = run_playbook

    def carry_out(self, plan: Plan, *, check: bool = False) -> Outcome:
        """A plan to its end; Refusal where a host went wrong."""
        options = ["--check"] if check else []
        ended = self._run(plan.playbook, plan.variables, plan.limit, options)
        found = outcome(ended, plan.hosts)
        if not found.succeeded:
            bad = [f"{name} at {came.task}: {came.words}" for name, came in found.hosts.items() if not came.is_well]
            raise Refusal(f"{plan.title}: {'; '.join(bad)[:400] or found.summary()}", plan.command(self.site))
        return found

    def judged(self, hosts: Sequence[str], phase: Phase) -> Mapping[str, Any]:
        """What preflight has to say of these hosts."""
        with tempfile.TemporaryDirectory(prefix="rackwright-") as folder:
            report = Path(folder, "report.json")
            told = {"preflight_phase": phase, "preflight_report": str(report)}
            ended = self._run("preflight", told, hosts, [])
            if not report.exists():
                raise Refusal(f"Ansible ended with {ended.code}: {ended.first_fault()}", "rackwright preflight")
            found: Mapping[str, Any] = json.loads(report.read_text("utf-8"))["data"]
        return found

    def _run(self, name: str, told: Mapping[str, Any], limit: Sequence[str], options: Sequence[str]) -> Ended:
        return self.run(
            name,
            self.site,
            told,
            limit=",".join(limit) or None,
            options=options,
            progress=self.progress,
            keeps=kept(),
        )


@dataclass(frozen=True)
class Ready:
    """The gate `hosts-ready`, of the hosts that are to come."""

    playbooks: Playbooks
    hosts: Sequence[str]

    def __call__(self) -> Reading:
        """Compare them with the site now."""
        found = self.playbooks.judged(self.hosts, 2)
        summary = str(found.get("summary") or ("nothing is forbidden" if found["succeeded"] else "something is"))
        return Reading(bool(found["succeeded"]), summary, "preflight forbids nothing on any of them")


@dataclass(frozen=True)
class Provision:
    """`metal/provision`: the new hosts alone, up to what a cluster can be installed on."""

    way: Way
    playbooks: Playbooks

    def look(self) -> Found:
        """By Ansible's own dry run: done where it would change nothing."""
        found = self.playbooks.carry_out(self._plan(), check=True)
        if changed := _changed(found):
            return Found(State.ABSENT, f"{changed} would be changed")
        return Found(State.DONE, f"{', '.join(found.hosts)} as the site says")

    def do(self) -> None:
        """Provision them."""
        self.playbooks.carry_out(self._plan())

    def undo(self) -> None:
        """They are nobody's yet."""

    def _plan(self) -> Plan:
        whole = provision(self.way.site, 2, names(self.way.new))
        return Plan(
            title="Provision machines",
            site=whole.site,
            phase=2,
            playbook="provision",
            variables={"phase": 2},
            steps=whole.steps,
            limit=whole.limit,
            hosts=whole.hosts,
        )


@dataclass(frozen=True)
class Founded:
    """`cluster/found`: the new hosts alone are a cluster."""

    way: Way
    playbooks: Playbooks
    nodes: Nodes

    def look(self) -> Found:
        """Done where each of them is a Ready node; where no API answers, Ansible's own dry run sees what is left."""
        if not self.nodes.kubeconfig.is_file() or not self.nodes.answers():
            silent = f"nothing answers behind {self.nodes.kubeconfig}"
            if left := _changed(self.playbooks.carry_out(self._reset(), check=True)):
                return Found(State.TO_FINISH, f"{silent}, and {left} has a part of a cluster")
            return Found(State.ABSENT, silent)
        ready = self.nodes.ready()
        missing = [name for name in names(self.way.new) if not ready.get(name)]
        if missing:
            return Found(State.TO_FINISH, f"{', '.join(missing)} is no ready node yet")
        return Found(State.DONE, f"{len(self.way.new)} nodes are ready")

    def do(self) -> None:
        """Found it, and prove it."""
        self.playbooks.carry_out(provision(self.way.site, 2, names(self.way.new)))

    def undo(self) -> None:
        """Take it off them; drives keep what they have."""
        self.playbooks.carry_out(self._reset())

    def _reset(self) -> Plan:
        return reset(self.way.site, names(self.way.new), 2)


@dataclass(frozen=True)
class Cleaned:
    """`no-return/clean`: phase 1's cluster is taken off the hosts that join."""

    way: Way
    playbooks: Playbooks

    def look(self) -> Found:
        """By a dry run: where the API is silent all may be left, and it may answer from a host that stays."""
        if changed := _changed(self.playbooks.carry_out(self._plan(), check=True)):
            return Found(State.ABSENT, f"{changed} still has what is phase 1's")
        return Found(State.DONE, f"nothing of phase 1's cluster is on {', '.join(names(self.way.joining))}")

    def do(self) -> None:
        """Reset them, without any drive."""
        self.playbooks.carry_out(self._plan())

    def undo(self) -> None:
        """Past the point of no return."""

    def _plan(self) -> Plan:
        return reset(self.way.site, names(self.way.joining), 1)


@dataclass(frozen=True)
class Joined:
    """`no-return/join`: the old hosts are nodes of phase 2."""

    way: Way
    playbooks: Playbooks
    second: Nodes

    def look(self) -> Found:
        """Done where each is a Ready node."""
        ready = self.second.ready()
        there = [name for name in names(self.way.joining) if ready.get(name)]
        if len(there) == len(self.way.joining):
            return Found(State.DONE, f"{', '.join(there)} is a ready node")
        return Found(State.TO_FINISH if there else State.ABSENT, f"{len(there)} of {len(self.way.joining)} joined")

    def do(self) -> None:
        """One after the other, as `rackwright node add`."""
        for name in names(self.way.joining):
            if not self.second.ready().get(name):
                self.playbooks.carry_out(node(self.way.site, name, "add", 2))

    def undo(self) -> None:
        """Past the point of no return."""


def _changed(found: Outcome) -> str:
    """The hosts that a run changed, or would have."""
    return ", ".join(name for name, came in found.hosts.items() if came.counts["changed"])
