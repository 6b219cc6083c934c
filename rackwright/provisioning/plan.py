"""A plan: what is done to which hosts, in which order, what reboots, and what is down meanwhile."""

import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackwright.errors import Refusal
from rackwright.playbook import ROOT
from rackwright.site.hosts import Host, Phase
from rackwright.site.reading.nearest import listed, told
from rackwright.site.site import Site

WIDTH = 118
INSET = "     "


@dataclass(frozen=True)
class Step:
    """One step of a plan; `reboots` and `down` are clauses, empty where nothing is."""

    title: str
    hosts: tuple[str, ...]
    does: str
    one_at_a_time: bool = False
    reboots: str = ""
    down: str = ""


@dataclass(frozen=True)
class Plan:
    """A run: its playbook with what it is told, its steps, and what there is to know before."""

    title: str
    site: str
    phase: Phase
    playbook: str
    variables: Mapping[str, Any]
    steps: tuple[Step, ...]
    warnings: tuple[str, ...] = ()
    limit: tuple[str, ...] = ()
    hosts: tuple[str, ...] = field(default=())

    def text(self) -> str:
        """The plan for people."""
        head = f"{self.title}: {self.site}, phase {self.phase}: {', '.join(self.hosts)}."
        return "\n".join([_filled(head), *self._steps(), *self._warnings()])

    def as_json(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {
            "title": self.title,
            "site": self.site,
            "phase": self.phase,
            "playbook": f"playbooks/{self.playbook}.yml",
            "hosts": list(self.hosts),
            "steps": [
                {
                    "title": step.title,
                    "hosts": list(step.hosts),
                    "one_at_a_time": step.one_at_a_time,
                    "does": step.does,
                    "reboots": step.reboots,
                    "down": step.down,
                }
                for step in self.steps
            ],
            "warnings": list(self.warnings),
        }

    def command(self, site: Path) -> str:
        """The same run by Ansible's own command, which wants to be at the root of the checkout."""
        there = Path.cwd() == ROOT
        begin = "" if there else f"cd {shlex.quote(str(ROOT))} && "
        folder = shlex.quote(str(site if there else site.absolute()))
        told = [f"-e {name}={value}" for name, value in self.variables.items() if value not in ("", False)]
        limit = [f"--limit {','.join(self.limit)}"] if self.limit else []
        return " ".join([f"{begin}ansible-playbook -i {folder} playbooks/{self.playbook}.yml", *told, *limit])

    def _steps(self) -> Iterator[str]:
        for number, step in enumerate(self.steps, 1):
            how = ", one at a time" if step.one_at_a_time and len(step.hosts) > 1 else ""
            who = "all of them" if len(step.hosts) > 1 and step.hosts == self.hosts else ", ".join(step.hosts)
            yield _filled(f"{number:3}  {step.title}: {who}{how}")
            yield _filled(f"{INSET}{step.does}.")
            if step.reboots:
                yield _filled(f"{INSET}Reboots: {step.reboots}.")
            if step.down:
                yield _filled(f"{INSET}Down meanwhile: {step.down}.")

    def _warnings(self) -> Iterator[str]:
        for warning in self.warnings:
            yield _filled(f"Know: {warning}.")


def steps_with_hosts(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps that are anybody's."""
    return tuple(step for step in steps if step.hosts)


def names(hosts: Sequence[Host]) -> tuple[str, ...]:
    """Their names."""
    return tuple(host.name for host in hosts)


def phase_of(site: Site, phase: Phase | None, wanted: Sequence[str] | None = None) -> Phase:
    """The phase that was named, else the first in which all that are wanted serve; Refusal where the site has none."""
    bearing = [each for each in site.phases if set(wanted or ()) <= set(names(site.hosts_in(each)))]
    found = phase or (bearing or site.phases)[0]
    if found not in site.phases:
        raise Refusal(f"The site {site.name} has no phase {found}.", f"Its phases: {', '.join(map(str, site.phases))}.")
    return found


def hosts_of(site: Site, phase: Phase, wanted: Sequence[str] | None = None) -> tuple[Host, ...]:
    """All hosts of the phase, or those named; Refusal where a name is not one of them."""
    known = {host.name: host for host in site.hosts_in(phase)}
    if wanted is None:
        return tuple(known.values())
    elsewhere = {host.name: host.phases for host in site.hosts if host.name not in known}
    for name in sorted(wanted, key=elsewhere.__contains__):  # what is nowhere is told first
        if name not in known:
            what = f"The site {site.name} has no host {name} in phase {phase}."
            other = [f"--phase {number}" for number in elsewhere.get(name, ())]
            cure = f"It is of another: add {other[0]}." if other else told(name, list(known))  # no other host for it
            raise Refusal(what, cure)
    if not wanted:
        raise Refusal("No host is named.", f"Hosts of phase {phase}: {', '.join(known)}.")
    return tuple(known[name] for name in known if name in wanted)


def refuse_guesses(site: Site, leaving: Sequence[str]) -> None:
    """Refusal where whoever is to leave is in no phase: the nearest name would be another machine, with its data."""
    for name in leaving:
        if name not in names(site.hosts):
            cure = "Where it was taken out of the file, write it back until it has left"
            raise Refusal(f"The site {site.name} has no host {name}.", f"{cure}. Hosts: {listed(names(site.hosts))}.")


def servers(site: Site, phase: Phase, hosts: Sequence[Host]) -> tuple[Host, ...]:
    """Those that run the cluster's API: k3s's server, or the control hosts."""
    if phase == 2:
        return tuple(host for host in hosts if "control" in host.roles)
    api = site.clusters.phase1.api if site.clusters.phase1 else None
    return tuple(host for host in hosts if host.address == api)


def others(site: Site, phase: Phase, hosts: Sequence[Host]) -> tuple[Host, ...]:
    """Those that do not."""
    found = servers(site, phase, hosts)
    return tuple(host for host in hosts if host not in found)


def _filled(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent=f"{INSET}  ", break_on_hyphens=False)
