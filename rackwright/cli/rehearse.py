"""`rackwright rehearse`: a whole phase on a simulated cluster, or its playbooks on booted guests."""

from pathlib import Path
from typing import Annotated, Any

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

Hosts = Annotated[
    bool, typer.Option("--hosts", help="Boot the hosts as virtual servers, and run the playbooks on them instead.")
]
Playbook = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="With --hosts: this playbook alone; default: site.yml, in phase 2 provision.yml."
    ),
]
Memory = Annotated[int | None, typer.Option(metavar="MIB", min=512, help="With --hosts: memory of each guest; 2048.")]


def rehearse(
    context: typer.Context,
    site: OptionalSite = None,
    *,
    phase: options.Phase = 1,
    charts: Charts = None,
    crds: Crds = None,
    hosts: Hosts = False,
    host: options.Named = None,
    playbook: Playbook = None,
    memory: Memory = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave it running, and say how to reach it.")] = False,
    kept: Annotated[bool, typer.Option("--kept", help="List clusters and racks that were kept.")] = False,
    end: Annotated[str | None, typer.Option(metavar="NAME|all", help="End one that was kept.")] = None,
    json: options.Json = False,
) -> None:
    """Run a site on a real Kubernetes API with simulated nodes, or its playbooks on booted guests.

    Starts a cluster (or, with --hosts, virtual servers) of its own, runs the stack (or the playbooks, twice),
    waits, checks, reports, and tears everything down again.
    """
    output = options.output_of(context, json=json)
    if kept or end is not None:
        _kept(output, end)
        return
    if site is None:
        raise typer.BadParameter("name a site, such as inventory/lab", ctx=context, param_hint="SITE")
    if hosts:
        _refuse(context, {"--charts": charts, "--crds": crds}, "are for a cluster, and --hosts boots machines")
        report: Any = _hosts(output, site, phase, host or [], playbook, memory, keep=keep)
    else:
        _refuse(context, {"--host": host, "--playbook": playbook, "--memory": memory}, "are for --hosts")
        from rackwright.sandbox.rehearsal import rehearse

        number = options.phase_of(phase)
        report = rehearse(site, phase=number, charts=charts, crds=crds, keep=keep, progress=output.progress)
    output.result(report.text(), report.as_json())
    if not report.succeeded:
        raise typer.Exit(1)


def _hosts(
    output: Output, site: Path, phase: int, names: list[str], playbook: str | None, memory: int | None, *, keep: bool
) -> Any:
    from rackwright.guests.hardware import Size
    from rackwright.guests.rehearsal import rehearse

    return rehearse(
        site,
        options.phase_of(phase),
        options.names_of(names),
        playbook,
        size=Size(memory_mib=memory) if memory else None,
        keep=keep,
        progress=output.progress,
    )


def _refuse(context: typer.Context, given: dict[str, object], why: str) -> None:
    """Wrong usage where an option was given that would not be heard."""
    found = [name for name, value in given.items() if value]
    if found:
        raise typer.BadParameter(f"{' and '.join(found)} {why}", ctx=context)


def _kept(output: Output, end: str | None) -> None:
    """List what was kept, or end one or all of it."""
    from rackwright.guests.rack import Rack
    from rackwright.sandbox.control_plane import ControlPlane
    from rackwright.site.reading.nearest import nearest

    ending = dict.fromkeys(ControlPlane.kept(), ControlPlane.end) | dict.fromkeys(Rack.kept(), Rack.end)
    names = list(ending)
    if end is None:
        output.result("\n".join(names) or "None is kept.", {"succeeded": True, "kept": names})
        return
    if end not in ("all", *names):
        raise Refusal(f"Nothing called {end} is kept.", options.sentence(nearest(end, names or ["none at all"])))
    ended = names if end == "all" else [end]
    for name in ended:
        ending[name](name)
    output.result(
        "\n".join(f"{name} has ended." for name in ended) or "None was kept.", {"succeeded": True, "ended": ended}
    )
