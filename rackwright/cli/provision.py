"""`rackwright provision`: from machines with a fresh system to the phase's cluster."""

from typing import Annotated

import typer

from rackwright.cli import carry_out, options

Limit = Annotated[str | None, typer.Option(metavar="HOST", help="Only this host; several are joined by commas.")]


def provision(
    context: typer.Context,
    site: options.Site,
    *,
    phase: carry_out.Phase = None,
    limit: Limit = None,
    check: carry_out.Check = False,
    yes: carry_out.Yes = False,
    json: options.Json = False,
) -> None:
    """Take machines with a fresh system and SSH to the phase's cluster; on finished ones nothing changes.

    Every host is compared with the site first, and nothing is changed on any while one forbids it. The same as
    ansible-playbook -i SITE playbooks/site.yml.
    """
    from rackwright.provisioning.provision import provision as plan
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    number = None if phase is None else options.phase_of(phase)
    planned = plan(Site.load(site), number, carry_out.words_of(limit))
    carry_out.carry_out(context, output, site, planned, yes=yes, check=check)
