"""Waiting for what goes on after `pulumi up`, and saying what holds things up."""

import shutil
import time
from pathlib import Path

from rackwright.checks.access import Access
from rackwright.checks.check import databases_of
from rackwright.checks.findings import Finding, Outcome
from rackwright.checks.operators import (
    certificates_are_issued,
    cluster_policy_is_ready,
    databases_are_healthy,
    monitoring_runs,
)
from rackwright.checks.readiness import pods_are_ready
from rackwright.checks.volumes import claims_are_bound
from rackwright.errors import Refusal
from rackwright.sandbox import processes
from rackwright.sandbox.events import Events
from rackwright.sandbox.locks import Progress
from rackwright.site.site import Site

QUIET_S = 30.0  # without a word from Pulumi before somebody looks what is the matter
LONGEST_S = 900.0
SETTLE_S = 30.0
PAUSE_S = 0.5
WRITABLE_BYTES = 8 * 2**20
PROGRAMS = frozenset({"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"})


class Watch:
    """Ends a run that will not come to an end by itself, with what holds it up."""

    def __init__(self, access: Access, folder: Path) -> None:
        self._access = access
        self._folder = folder
        self._looked = 0.0
        self._programs = {number: _name(number) for number in processes.working_in(folder)}

    def __call__(self, events: Events) -> None:
        """Called every second; Refusal where something is stuck."""
        quiet = events.quiet_for()
        demand_room(self._folder)
        if dead := [name for number, name in self._programs.items() if _name(number) != name]:
            raise Refusal(
                f"{dead[0]}, a program of the rehearsal's control plane, has died.",
                "See that the machine has some 4 GB of memory to spare, and run this again.",
            )
        if time.monotonic() - events.started > LONGEST_S:
            raise self._stuck(events, LONGEST_S)
        if quiet > QUIET_S and time.monotonic() - self._looked > QUIET_S:
            self._looked = time.monotonic()
            if list(held_up(self._access)):
                raise self._stuck(events, quiet)

    def _stuck(self, events: Events, seconds: float) -> Refusal:
        waiting = ", ".join(events.under_way[:5]) or "nothing that it names"
        why = "; ".join(f"{each.where} {each.what}" for each in list(held_up(self._access))[:3])
        reason = why or "every pod that exists is ready"
        return Refusal(
            f"pulumi up has waited {seconds:.0f} s for {waiting}: {reason}.",
            "Mend the site file or the component; with --keep the cluster stays for you to look at.",
        )


def demand_room(folder: Path) -> None:
    """Refusal where nothing can be written any more: programs would hang on it or die of it, and say something else."""
    if folder.exists() and shutil.disk_usage(folder).free < WRITABLE_BYTES:
        raise Refusal(f"The disk of {folder} is full.", "Free some 500 MB, and run this again.")


def demand_programs(folder: Path) -> None:
    """Refusal where a program of a control plane is gone: without controllers it takes everything and does nothing."""
    there = {_name(number) for number in processes.working_in(folder)}
    if missing := sorted(PROGRAMS - there):
        raise Refusal(
            f"{missing[0]}, a program of the rehearsal's control plane, has died.",
            "See that the machine has 4 GB of memory and a processor to spare, and run this again.",
        )


def held_up(access: Access) -> list[Finding]:
    """Pods and claims that do not come up, and why."""
    objects = access.objects()
    found = (*pods_are_ready(objects), *claims_are_bound(objects))
    return [finding for finding in found if finding.outcome is Outcome.FAILED]


def settle(access: Access, site: Site, progress: Progress) -> None:
    """Wait until pods, claims and what operators make are there; give up quietly, since the checks say what is not."""
    deadline = time.monotonic() + SETTLE_S
    said = ""
    while time.monotonic() < deadline:
        objects = access.objects()
        found = (
            *pods_are_ready(objects),
            *claims_are_bound(objects),
            *databases_are_healthy(objects, site, databases_of(objects)),
            *cluster_policy_is_ready(objects),
            *certificates_are_issued(objects),
            *monitoring_runs(objects),
        )
        waiting = [each for each in found if each.outcome is Outcome.FAILED]
        if not waiting:
            return
        if (line := f"waiting for {waiting[0].where}: {waiting[0].what}") != said:
            progress(line)
            said = line
        time.sleep(PAUSE_S)


def _name(process: int) -> str:
    """The program of a living process; empty for one that has ended, whether or not somebody has taken note of it."""
    try:
        return (processes.PROCESSES / str(process) / "exe").readlink().name
    except OSError:
        return ""
