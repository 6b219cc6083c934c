"""`rackwright preflight`: machines against their site, before anything is done to them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rackwright.cli import options
from rackwright.errors import Refusal

if TYPE_CHECKING:
    from rackwright.playbook import Ended
    from rackwright.site.site import Site

Limit = Annotated[str | None, typer.Option(metavar="HOST", help="Ask this host alone; several are joined by commas.")]


def preflight(
    context: typer.Context,
    site: options.Site,
    *,
    phase: options.Phase = 1,
    limit: Limit = None,
    json: options.Json = False,
) -> None:
    """Compare every machine with its site, and change nothing.

    Asks all hosts of a phase side by side, reports every fault of every host with its cure, and exits 1 if one forbids
    going on. The same as ansible-playbook -i SITE playbooks/preflight.yml.
    """
    import tempfile

    from rackwright.playbook import run
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    found = Site.load(site)
    hosts = _hosts(found, phase, limit)
    options.open_vault(site)
    output.progress(f"asking {len(hosts)} host{'' if len(hosts) == 1 else 's'} of {found.name}, phase {phase}")
    with tempfile.TemporaryDirectory(prefix="rackwright-preflight-") as folder:
        report = Path(folder) / "report.json"
        variables = {"preflight_phase": phase, "preflight_report": str(report)}
        ended = run("preflight", site, variables, limit=",".join(hosts), progress=output.progress)
        verdict = _verdict(report, ended)
    output.result(verdict["text"], verdict["data"])
    if not verdict["data"]["succeeded"]:
        raise typer.Exit(1)


def _hosts(site: "Site", phase: int, limit: str | None) -> list[str]:
    """Names of the hosts that are asked; Refusal where the phase or a name is not the site's."""
    from rackwright.cli.carry_out import words_of
    from rackwright.provisioning.plan import hosts_of, names, phase_of

    return list(names(hosts_of(site, phase_of(site, options.phase_of(phase)), words_of(limit))))


def _verdict(report: Path, ended: "Ended") -> dict[str, Any]:
    """What the playbook judged; Refusal with Ansible's last words where it came to no judgement."""
    from json import loads

    if report.exists():
        verdict: dict[str, Any] = loads(report.read_text(encoding="utf-8"))
        return verdict
    raise Refusal(
        f"Ansible ended with {ended.code} before anything was judged: {ended.first_fault()}",
        "Run the same with ansible-playbook -i SITE playbooks/preflight.yml, which shows all of it.",
    )
