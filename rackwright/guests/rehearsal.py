"""A rehearsal of the metal: the site's machines booted, the real playbook on them twice, a report, nothing left."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.guests import hardware, machine, namespace, needs
from rackwright.guests.hardware import Size
from rackwright.guests.namespace import ROOT
from rackwright.guests.rack import Rack
from rackwright.guests.report import Report
from rackwright.guests.stand_ins.lay import lay
from rackwright.sandbox.endings import ended_well
from rackwright.sandbox.locks import Progress, silence
from rackwright.sandbox.settling import demand_room
from rackwright.site.hosts import Phase
from rackwright.site.reading.nearest import nearest
from rackwright.site.site import Site

# Packages of phase 2 come from repositories that no guest reaches; tests bring its cluster up, of what is built here.
PLAYBOOKS: Mapping[Phase, str] = {1: "playbooks/site.yml", 2: "playbooks/provision.yml"}


def rehearse(
    site_folder: Path,
    phase: Phase,
    names: Sequence[str] = (),
    playbook: str | None = None,
    *,
    size: Size | None = None,
    keep: bool = False,
    progress: Progress = silence,
) -> Report:
    """Rehearse a phase on all of its hosts or some; Refusal where it cannot come to its end, and nothing is left."""
    with ended_well():
        needs.demand_to_boot()
        namespace.demand()
        playbook = playbook or PLAYBOOKS[phase]
        if not (ROOT / playbook).is_file():
            raise Refusal(f"There is no {playbook} in this checkout.", "Name one with --playbook.")
        site = Site.load(site_folder)
        size = size or Size()
        names = _names(site, phase, names)
        rack = Rack(site_folder, names, size=size, keep=keep, own_kubeconfigs=True, progress=progress)
        report = Report(
            site=site.name,
            phase=phase,
            playbook=playbook,
            accelerator=machine.accelerator(),
            cannot_have={
                host.name: hardware.cannot_have(host, host.operating_system or site.operating_system, size)
                for host in site.hosts
                if host.name in names
            },
        )
        _play(rack, report, progress)
        return report


def _play(rack: Rack, report: Report, progress: Progress) -> None:
    """Everything between an empty machine and an empty machine."""
    with ExitStack() as leaving:
        try:
            with _step(report, "boot", progress):
                leaving.enter_context(rack)
            with _step(report, "stand-ins", progress):
                laid = lay(rack, report.phase)
                report.stand_ins = laid.sentences
            variables = {"phase": report.phase, **laid.variables}
            with _step(report, "first run", progress):
                report.first = rack.ansible(report.playbook, variables=variables)
            if not report.first.succeeded:
                demand_room(rack.folder)
            if report.first.succeeded:
                with _step(report, "second run", progress):
                    report.second = rack.ansible(report.playbook, variables=variables)
        except BaseException as error:
            rack.keep = False  # it is the report that tells of what is kept
            if isinstance(error, Refusal):
                demand_room(rack.folder)
            raise
        if rack.keep:
            report.kept = {"name": rack.name, "ways_in": rack.ways_in()}
        with _step(report, "tear-down", progress):
            leaving.close()


def _names(site: Site, phase: Phase, names: Sequence[str]) -> list[str]:
    """The hosts that are meant; Refusal where one is not of the phase."""
    if phase not in site.phases:
        there = ", ".join(map(str, site.phases))
        raise Refusal(f"The site {site.name} has no phase {phase}.", f"Its phases: {there}.")
    known = [host.name for host in site.hosts_in(phase)]
    for name in names:
        if name not in known:
            hint = nearest(name, known)
            what = f"The site {site.name} has no host {name} in phase {phase}."
            raise Refusal(what, f"{hint[0].upper()}{hint[1:]}.")
    return list(dict.fromkeys(names)) or known


@contextmanager
def _step(report: Report, name: str, progress: Progress) -> Iterator[None]:
    """One step: said when it begins, and how long it took."""
    progress(f"== {name}")
    began = time.monotonic()
    yield
    report.steps[name] = time.monotonic() - began
