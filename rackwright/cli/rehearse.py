"""`rackwright rehearse`: a whole phase on a simulated cluster."""

from pathlib import Path
from typing import Annotated

import typer

from rackwright.cli import options
from rackwright.cli.output import Output
from rackwright.errors import Refusal

OptionalSite = Annotated[
    Path | None, typer.Argument(parser=options.find_site, help=options.SITE_HELP, show_default=False)
]
Charts = Annotated[
    str | None, typer.Option(metavar="FOLDER|upstream", help="Real charts, from a folder or fetched; else stand-ins.")
]
Crds = Annotated[Path | None, typer.Option(exists=True, file_okay=False, help="Upstream's CRDs; else the charts' own.")]


def rehearse(
    context: typer.Context,
    site: OptionalSite = None,
    *,
    phase: options.Phase = 1,
    charts: Charts = None,
    crds: Crds = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the cluster running, and say how to reach it.")] = False,
    kept: Annotated[bool, typer.Option("--kept", help="List the clusters that were kept.")] = False,
    end: Annotated[str | None, typer.Option(metavar="NAME|all", help="End a cluster that was kept.")] = None,
    json: options.Json = False,
) -> None:
    """Run a site on a real Kubernetes API with simulated nodes.

    Starts a cluster of its own, runs the stack, waits, checks, reports, and tears everything down again.
    """
    output = options.output_of(context, json=json)
    if kept or end is not None:
        _kept(output, end)
        return
    if site is None:
        raise typer.BadParameter("name a site, such as inventory/lab", ctx=context, param_hint="SITE")
    from rackwright.sandbox.rehearsal import rehearse

    report = rehearse(
        site, phase=options.phase_of(phase), charts=charts, crds=crds, keep=keep, progress=output.progress
    )
    output.result(report.text(), report.as_json())
    if not report.succeeded:
        raise typer.Exit(1)


def _kept(output: Output, end: str | None) -> None:
    """List kept clusters, or end one or all of them."""
    from rackwright.sandbox.control_plane import ControlPlane
    from rackwright.site.nearest import nearest

    names = list(ControlPlane.kept())
    if end is None:
        output.result("\n".join(names) or "None is kept.", {"succeeded": True, "kept": names})
        return
    if end not in ("all", *names):
        raise Refusal(f"No cluster {end} is kept.", options.sentence(nearest(end, names or ["none at all"])))
    ended = names if end == "all" else [end]
    for name in ended:
        ControlPlane.end(name)
    output.result(
        "\n".join(f"{name} has ended." for name in ended) or "None was kept.", {"succeeded": True, "ended": ended}
    )
