"""From a plan to its end: said, agreed to, run, and reported host by host, for every command that changes machines."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rackwright.cli import options
from rackwright.cli.output import Output
from rackwright.errors import Refusal

if TYPE_CHECKING:
    from rackwright.provisioning.outcome import Outcome
    from rackwright.provisioning.plan import Plan

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
Check = Annotated[bool, typer.Option("--check", help="Change nothing; say what would change.")]
Phase = Annotated[
    int | None, typer.Option(min=1, max=2, help="The phase: 1 (k3s) or 2 (the rack).", show_default="the site's first")
]
Drives = Annotated[
    str | None, typer.Option(metavar="SERIAL", help="Give this drive back, with all that is on it; several by commas.")
]
GOES_ON = "The same command goes on where this one stopped."
REPORTS = ("preflight", "verify")


def carry_out(
    context: typer.Context,
    output: Output,
    site: Path,
    plan: "Plan",
    *,
    yes: bool,
    check: bool = False,
    by_name: bool = False,
) -> None:
    """Say the plan, have it agreed to, run it and report; ends the command with 1 where something went wrong."""
    agreed, said = yes or check, _written(site)
    if not output.json:
        output.text(f"{plan.text()}\n")
    if not agreed:
        _ask(context, output, plan, by_name=by_name)
        if _written(site) != said:  # Ansible reads the file anew
            what = f"{site / options.FILE_NAME} was changed while this plan was looked at; nothing was done."
            raise Refusal(what, "Run it again, and look at the plan that it has now.")
    options.open_vault(site)
    outcome, reports = _run(output, site, plan, check=check)
    stopped = next((report for report in reports.values() if not report["data"]["succeeded"]), None)
    data = {"plan": plan.as_json(), **outcome.as_json()} | {name: each["data"] for name, each in reports.items()}
    output.result("\n".join(_said(outcome, stopped)), data)
    if not outcome.succeeded:
        output.note(f"{plan.command(site)} shows all that Ansible says.")
        raise typer.Exit(1)


def words_of(listed: str | None) -> list[str] | None:
    """Names that are joined by commas; None where the option was not given."""
    return None if listed is None else [word.strip() for word in listed.split(",") if word.strip()]


def _written(site: Path) -> bytes:
    return (site / options.FILE_NAME).read_bytes()


def _ask(context: typer.Context, output: Output, plan: "Plan", *, by_name: bool) -> None:
    """Go on only where whoever sits at the terminal says so."""
    if not sys.stdin.isatty():
        if output.json:
            output.result("", {"succeeded": False, "plan": plan.as_json()})
        raise typer.BadParameter("nobody can be asked here; add --yes where this plan is what you want", ctx=context)
    if by_name:
        agreed = typer.prompt(f"Type the site's name, {plan.site}, to go on", err=True).strip() == plan.site
    else:
        agreed = typer.confirm("Go on?", err=True)
    if not agreed:
        raise Refusal("Nothing was changed.", "Run it again when it suits.")


def _run(output: Output, site: Path, plan: "Plan", *, check: bool) -> tuple["Outcome", dict[str, Any]]:
    """The run's outcome, and what preflight and proof judged on the way."""
    import json
    import tempfile

    from rackwright.playbook import run
    from rackwright.provisioning.outcome import outcome

    with tempfile.TemporaryDirectory(prefix="rackwright-") as folder:
        files = {name: Path(folder, f"{name}.json") for name in REPORTS}
        variables = {**plan.variables, **{f"{name}_report": str(file) for name, file in files.items()}}
        try:
            ended = run(
                plan.playbook,
                site,
                variables,
                limit=",".join(plan.limit) or None,
                options=["--check"] if check else [],
                progress=output.progress,
            )
        except KeyboardInterrupt:
            output.note(GOES_ON)
            raise
        reports = {name: json.loads(file.read_text("utf-8")) for name, file in files.items() if file.exists()}
    return outcome(ended, plan.hosts), reports


def _said(outcome: "Outcome", stopped: Any) -> list[str]:
    """What is printed: where preflight or proof stopped it, their own table says why."""
    return [*([f"{stopped['text']}\n"] if stopped else []), outcome.text()]
