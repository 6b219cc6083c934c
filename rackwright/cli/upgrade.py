"""`rackwright upgrade hosts`: drivers, or k3s and Kubernetes, one node at a time."""

from typing import Annotated

import typer

from rackwright.cli import carry_out, options

application = typer.Typer(help="Move what runs to the versions of site and catalog.", no_args_is_help=True)

Driver = Annotated[bool, typer.Option("--driver", help="The NVIDIA driver with its libraries and fabric manager.")]
Kubernetes = Annotated[bool, typer.Option("--kubernetes", help="k3s in phase 1, kubeadm's cluster in phase 2.")]


@application.callback()
def upgrade() -> None:
    """Move what runs to the versions of site and catalog."""


@application.command()
def hosts(
    context: typer.Context,
    site: options.Site,
    *,
    driver: Driver = False,
    kubernetes: Kubernetes = False,
    phase: carry_out.Phase = None,
    check: carry_out.Check = False,
    yes: carry_out.Yes = False,
    json: options.Json = False,
) -> None:
    """Upgrade the hosts' driver or Kubernetes, one node at a time, each drained before and proved after.

    It ends at the first node that is not well; the same command goes on. A minor is never passed by.
    """
    from rackwright.provisioning.upgrade import upgrade as plan
    from rackwright.site.catalog import Catalog
    from rackwright.site.site import Site

    if driver == kubernetes:
        raise typer.BadParameter("say one of --driver and --kubernetes", ctx=context)
    output = options.output_of(context, json=json)
    number = None if phase is None else options.phase_of(phase)
    planned = plan(Site.load(site), Catalog.load(), "driver" if driver else "kubernetes", number)
    carry_out.carry_out(context, output, site, planned, yes=yes, check=check)
