"""`rackwright node`: one node comes, goes or is replaced, and no other host is touched."""

from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli import carry_out, options

if TYPE_CHECKING:
    from rackwright.provisioning.node import Act

application = typer.Typer(help="Add, remove or replace one node, and touch no other.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The host, as the site file names it.")]
Dead = Annotated[bool, typer.Option("--dead", help="Its machine is gone for good, or a new one stands in its place.")]


@application.command()
def add(
    context: typer.Context,
    site: options.Site,
    name: Name,
    *,
    phase: carry_out.Phase = None,
    check: carry_out.Check = False,
    yes: carry_out.Yes = False,
    json: options.Json = False,
) -> None:
    """Provision one host of the site file, have it join the cluster, and prove it."""
    _do(context, site, name, "add", phase, dead=False, drives=None, check=check, yes=yes, json=json)


@application.command()
def remove(
    context: typer.Context,
    site: options.Site,
    name: Name,
    *,
    phase: carry_out.Phase = None,
    dead: Dead = False,
    drives: carry_out.Drives = None,
    yes: carry_out.Yes = False,
    json: options.Json = False,
) -> None:
    """Drain one node, take it out of the cluster, and the cluster off its machine; its drives keep what they have."""
    _do(context, site, name, "remove", phase, dead=dead, drives=drives, check=False, yes=yes, json=json)


@application.command()
def replace(
    context: typer.Context,
    site: options.Site,
    name: Name,
    *,
    phase: carry_out.Phase = None,
    dead: Dead = False,
    drives: carry_out.Drives = None,
    yes: carry_out.Yes = False,
    json: options.Json = False,
) -> None:
    """Remove one node, and add the machine that has its name now."""
    _do(context, site, name, "replace", phase, dead=dead, drives=drives, check=False, yes=yes, json=json)


def _do(
    context: typer.Context,
    site: options.Site,
    name: str,
    act: "Act",
    phase: int | None,
    *,
    dead: bool,
    drives: str | None,
    check: bool,
    yes: bool,
    json: bool,
) -> None:
    from rackwright.provisioning.node import node
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    number = None if phase is None else options.phase_of(phase)
    planned = node(Site.load(site), name, act, number, dead=dead, drives=carry_out.words_of(drives) or ())
    carry_out.carry_out(context, output, site, planned, yes=yes, check=check)
