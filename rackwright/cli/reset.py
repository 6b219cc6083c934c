"""`rackwright reset`: machines taken back from their cluster."""

from typing import Annotated

import typer

from rackwright.cli import carry_out, options

Hosts = Annotated[list[str], typer.Argument(metavar="NAME...", help="The hosts, as the site file names them.")]


def reset(
    context: typer.Context,
    site: options.Site,
    hosts: Hosts,
    *,
    phase: carry_out.Phase = None,
    drives: carry_out.Drives = None,
    yes: carry_out.Yes = False,
    json: options.Json = False,
) -> None:
    """Take the cluster off hosts; of their drives only those are given back that are named by serial number.

    Asks for the site's name. The same as ansible-playbook -i SITE playbooks/reset.yml.
    """
    from rackwright.provisioning.reset import reset as plan
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    number = None if phase is None else options.phase_of(phase)
    planned = plan(Site.load(site), hosts, number, carry_out.words_of(drives) or ())
    carry_out.carry_out(context, output, site, planned, yes=yes, by_name=True)
