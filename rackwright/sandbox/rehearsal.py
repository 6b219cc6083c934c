"""A rehearsal: a real Kubernetes API, the site's machines simulated, the real stack, checks, a report, nothing left."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rackwright.checks.access import Access
from rackwright.checks.run import Ground, run
from rackwright.errors import Refusal
from rackwright.sandbox import kwok, stages, tools
from rackwright.sandbox.chart_sources import chart_sources, definition_folders, lay_out
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.endings import ended_well
from rackwright.sandbox.locks import Progress, silence
from rackwright.sandbox.nodes import nodes, storage_capacities
from rackwright.sandbox.report import Report
from rackwright.sandbox.settling import Watch, demand_room, settle
from rackwright.sandbox.stack import Stack
from rackwright.secrets import Vault, complete, open_vault, throw_away
from rackwright.site.catalog import Catalog
from rackwright.site.clusters import Cluster
from rackwright.site.hosts import Phase
from rackwright.site.site import Site


@dataclass(frozen=True)
class Wishes:
    """What is to be rehearsed, and how."""

    folder: Path
    site: Site
    phase: Phase
    cluster: Cluster
    catalog: Catalog
    keep: bool
    progress: Progress


def rehearse(
    site_folder: Path,
    phase: Phase = 1,
    charts: str | None = None,
    crds: Path | None = None,
    *,
    keep: bool = False,
    progress: Progress = silence,
) -> Report:
    """Rehearse one phase of a site; Refusal where it cannot come to its end, and then nothing is left of it."""
    with ended_well():
        wishes = _wishes(site_folder, phase, keep=keep, progress=progress)
        sources = chart_sources(wishes.catalog, charts)
        report = Report(
            site=wishes.site.name,
            phase=phase,
            vault=_look_at_vault(wishes.site, site_folder),
            charts=sources,
            crds=tuple(definition_folders(sources, crds)),
        )
        with _step(report, "tools", progress):
            report.toolbox = tools.ensure(tools.REHEARSAL, progress)
        _play(wishes, report)
        return report


def _wishes(site_folder: Path, phase: Phase, *, keep: bool, progress: Progress) -> Wishes:
    site = Site.load(site_folder)
    cluster = site.cluster(phase)
    if cluster is None:
        raise Refusal(f"{site.name} has no phase {phase}.", f"Write clusters.phase{phase} into its site.yml.")
    return Wishes(site_folder.resolve(), site, phase, cluster, Catalog.load(), keep, progress)


def _look_at_vault(site: Site, site_folder: Path) -> str:
    """The site's own secrets are opened and checked, never used."""
    if not Vault.of(site_folder).exists():
        return f"none yet; make it with: rackwright secrets init {site_folder}"
    complete(site, open_vault(site_folder), site_folder)
    return "opened, and complete"


def _play(wishes: Wishes, report: Report) -> None:
    """Everything between an empty machine and an empty machine."""
    networks = kwok.Networks(wishes.cluster.pods, wishes.cluster.services)
    plane = ControlPlane(report.toolbox, networks=networks, keep=wishes.keep, progress=wishes.progress)
    with ExitStack() as leaving:
        try:
            with _step(report, "control plane", wishes.progress):
                leaving.enter_context(plane)
            stack = _lay_ground(wishes, report, plane)
            _deploy(wishes, report, plane, stack)
        except (KeyboardInterrupt, SystemExit):
            plane.keep = False  # whoever stops it wants none of it
            raise
        except Refusal:
            demand_room(plane.folder)
            raise
        if wishes.keep:
            report.kept = {"name": plane.name, "kubeconfig": str(plane.kubeconfig)}
        with _step(report, "tear-down", wishes.progress):
            leaving.close()


def _lay_ground(wishes: Wishes, report: Report, plane: ControlPlane) -> Stack:
    """Machines, definitions, throw-away secrets and an empty stack."""
    with _step(report, "machines, secrets, stack", wishes.progress):
        if report.crds:
            folders = (f"--filename={folder}" for folder in report.crds)
            plane.kubectl("apply", "--server-side", "--force-conflicts", *folders)
        plane.apply([*nodes(wishes.site, wishes.phase, wishes.catalog), *storage_capacities(wishes.site, wishes.phase)])
        secrets = plane.folder / "secrets"
        secrets.mkdir(mode=0o700)
        vault = throw_away(wishes.site, secrets)
        charts = lay_out(report.charts, wishes.catalog, plane.folder / "charts")
        settings = {"site": str(wishes.folder), "secrets": str(secrets), "kubeconfig": str(plane.kubeconfig)}
        stack = Stack(
            f"phase{wishes.phase}",
            plane.folder / "pulumi",
            plane.folder,
            toolbox=report.toolbox,
            vault=vault,
            passphrase=vault.read()["pulumi_passphrase"],
            settings=settings | ({"charts": str(charts)} if charts else {}),
        )
        stack.prepare()
    report.played = stages.played(plane.stages)
    return stack


def _deploy(wishes: Wishes, report: Report, plane: ControlPlane, stack: Stack) -> None:
    access = Access(plane.kubeconfig, report.toolbox["kubectl"].path)
    with _step(report, "pulumi up", wishes.progress):
        events = stack.up(wishes.progress, Watch(access, plane.folder))
    report.parts = events.parts
    with stack.changes() as changes:  # meanwhile, since nothing below changes the cluster
        with _step(report, "settling", wishes.progress):
            settle(access, wishes.site, wishes.progress)
        with _step(report, "checks", wishes.progress):
            report.verdict = run(Ground(access.objects(), access, wishes.site, wishes.phase, wishes.catalog))
        with _step(report, "second run", wishes.progress):
            report.changes = changes()
            report.outputs = stack.outputs()


@contextmanager
def _step(report: Report, name: str, progress: Progress) -> Iterator[None]:
    """One step: said when it begins, and how long it took."""
    progress(f"== {name}")
    began = time.monotonic()
    yield
    report.steps[name] = time.monotonic() - began
