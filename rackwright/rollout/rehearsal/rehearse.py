"""`rackwright rollout rehearse`: metal where asked for, phase 1, then the whole rollout by the real runner."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.guests.rehearsal import rehearse as on_guests
from rackwright.rollout.journal import Journal
from rackwright.rollout.lock import held
from rackwright.rollout.plan import Plan, plan
from rackwright.rollout.rehearsal.death import die, dying
from rackwright.rollout.rehearsal.ground import Cluster
from rackwright.rollout.rehearsal.metal import demand_to_boot, metal
from rackwright.rollout.rehearsal.report import Report
from rackwright.rollout.rehearsal.services import services
from rackwright.rollout.rehearsal.world import Rehearsed
from rackwright.rollout.runner import Runner
from rackwright.rollout.standing import DONE, TAKEN_BACK, Standing
from rackwright.rollout.way import Way, names, way
from rackwright.sandbox import interruption, kwok, tools
from rackwright.sandbox.chart_sources import chart_sources, lay_out
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.endings import ended_well
from rackwright.sandbox.locks import Progress
from rackwright.sandbox.settling import demand_programs, settle
from rackwright.secrets import throw_away
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.site import Site


def rehearse(folder: Path, progress: Progress, hosts: Sequence[str] | None = None) -> Report:
    """Rehearse a site's rollout; Refusal where it cannot begin. Nothing is left of it, and no live cluster is asked.

    With `hosts`, those boot as guests before, or all where none is named; what they could not do ends it there.
    """
    with ended_well():
        found = way(Site.load(folder))
        machines = {} if hosts is None else metal(found, hosts)
        demand_to_boot(machines)
        report = Report(found.site.name)
        for phase, booted in machines.items():
            with _timed(report, f"metal of phase {phase}", progress):
                report.metal.append(on_guests(folder, phase, names(booted), progress=progress))
            if not report.metal[-1].succeeded:
                return report
        _on_clusters(folder, found, report, progress)
        return report


def _on_clusters(folder: Path, found: Way, report: Report, progress: Progress) -> None:
    """Phase 1, the rollout to phase 2 and the death of a node."""
    with _timed(report, "tools", progress):
        toolbox = tools.ensure(tools.REHEARSAL, progress)
    with ExitStack() as leaving:
        with _timed(report, "two control planes", progress):
            planes = _begin(leaving, found, toolbox, progress)
            place = planes[1].folder / "rollout"
            place.mkdir(mode=0o700)
            vault = throw_away(found.site, place)
            charts = lay_out(chart_sources(Catalog.load(), None), Catalog.load(), place / "charts")
            first, second = (
                Cluster.of(found.site, folder, phase, plane=planes[phase], toolbox=toolbox, vault=vault,
                           charts=charts, progress=progress)
                for phase in (1, 2)
            )  # fmt: skip
        with _timed(report, "phase 1, as it is before", progress):
            first.power_on(names(found.old))
            for plane in planes.values():
                demand_programs(plane.folder)
            first.stack.up()
            settle(first.access, found.site, progress)
        with _timed(report, "data services, beside phase 1", progress):
            data = leaving.enter_context(services(found, first, second, vault.read()))
        rehearsed = Rehearsed(found, first, second, data)
        report.played, report.without = rehearsed.played(), data.without
        with _timed(report, "the rollout", progress):
            _roll(rehearsed, place, report, progress)
        if not report.refused and not report.left:
            with _timed(report, "a node's death", progress):
                report.death = die(second, dying(found))
        report.data = data.figures()
        with _timed(report, "tear-down", progress):
            leaving.close()


def _hasty(planned: Plan) -> Plan:
    """The plan, but that shares are watched for a second: there is nobody whose figures could be seen."""
    stages = tuple(
        replace(stage, steps=tuple(replace(step, holds_s=min(step.holds_s, 1)) for step in stage.steps))
        for stage in planned.stages
    )
    return replace(planned, stages=stages)


def _plane(found: Way, phase: Phase, toolbox: tools.Toolbox, progress: Progress) -> ControlPlane:
    cluster = found.site.cluster(phase)
    assert cluster is not None, "a way has both phases"  # noqa: S101 - way() refuses a site without
    networks = kwok.Networks(cluster.pods, cluster.services)
    return ControlPlane(
        toolbox, networks=networks, load_balancer_address=str(found.site.door(phase)), progress=progress
    )


def _begin(leaving: ExitStack, found: Way, toolbox: tools.Toolbox, progress: Progress) -> dict[Phase, ControlPlane]:
    """Both control planes at once: each waits for its own programs most of the time."""
    phases: tuple[Phase, Phase] = (1, 2)
    planes = {phase: _plane(found, phase, toolbox, progress) for phase in phases}
    both = ThreadPoolExecutor(max_workers=len(planes))
    try:
        list(both.map(leaving.enter_context, planes.values()))
    finally:
        with interruption.postponed():
            both.shutdown()  # one that is still coming up must be there to be ended
    return planes


def _roll(rehearsed: Rehearsed, place: Path, report: Report, progress: Progress) -> None:
    """Run it to its end, going on once where the played fault stops it, as the operator would."""
    world = rehearsed.world()
    bare = plan(rehearsed.way.site)
    planned = _hasty(plan(rehearsed.way.site, world.built(bare.places)))
    with held(place):
        journal = Journal(place, site=rehearsed.way.site.name)
        for _ in range(2):
            runner = Runner(planned, world, journal, lambda *_: None, progress)
            try:
                runner.run()
            except Refusal as refusal:
                report.refused = refusal.what
                if rehearsed.fault.fails:
                    break
                progress(f"It stopped, as it must: {refusal.what}")
            else:
                report.refused = ""
                break
        report.entries = list(journal.entries)
    _judge(report, planned)


def _judge(report: Report, planned: Plan) -> None:
    standing = Standing.of(report.entries)
    report.left = tuple(place.name for place in planned.places if standing.word(place.name) != DONE)
    report.taken_back = any(entry.event == TAKEN_BACK for entry in report.entries)


@contextmanager
def _timed(report: Report, name: str, progress: Progress) -> Iterator[None]:
    """One part: said when it begins, and how long it took."""
    progress(f"== {name}")
    began = time.monotonic()
    yield
    report.seconds[name] = time.monotonic() - began
