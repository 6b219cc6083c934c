"""`rackwright rollout`: from phase 1 to phase 2 beside it, step by step, and back."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli import carry_out, options
from rackwright.cli.output import Output
from rackwright.errors import Refusal

if TYPE_CHECKING:
    from rackwright.rollout.rollout import Rollout
    from rackwright.rollout.step import Place, Stage
    from rackwright.rollout.taking_back import Return

application = typer.Typer(help="Move a site from phase 1 to phase 2, step by step.", no_args_is_help=True)

Until = Annotated[str | None, typer.Option(metavar="STAGE", help="Stop after this stage, for as long as you like.")]
To = Annotated[str | None, typer.Option(metavar="STAGE", help="Keep what was done up to this stage.")]
Override = Annotated[
    list[str] | None, typer.Option(metavar="GATE", help="Let this gate fail; it is written down. May be repeated.")
]
NoReturn = Annotated[
    str | None,
    typer.Option(metavar="SITE", help="The site's name: agree to the point of no return where nobody can be asked."),
]

Metal = Annotated[
    bool, typer.Option("--hosts", help="Before it, boot the hosts as virtual servers, and run the playbooks on them.")
]


@application.command()
def plan(context: typer.Context, site: options.Site, *, json: options.Json = False) -> None:
    """Say what each step changes, its gates, its way back, the outage it costs; change nothing."""
    output = options.output_of(context, json=json)
    found = _rollout(output, site).plan
    output.result(found.text(), found.as_json())


@application.command()
def status(context: typer.Context, site: options.Site, *, json: options.Json = False) -> None:
    """Say where the rollout stands, why it stopped, what comes next and who is at it."""
    output = options.output_of(context, json=json)
    found = _rollout(output, site).status()
    output.result(found.text(), found.as_json())


@application.command()
def report(context: typer.Context, site: options.Site, *, json: options.Json = False) -> None:
    """Tell the whole story by the journal: what was done, by whom, and what gates saw."""
    from rackwright.rollout import journal
    from rackwright.rollout.report import as_json, told

    output = options.output_of(context, json=json)
    entries = journal.read(site)
    output.result(told(entries), {"entries": as_json(entries)})


@application.command()
def run(
    context: typer.Context,
    site: options.Site,
    *,
    until: Until = None,
    override: Override = None,
    yes: carry_out.Yes = False,
    no_return: NoReturn = None,
    json: options.Json = False,
) -> None:
    """Carry out what is left; asks before each stage, and goes on where it was stopped or killed."""
    output = options.output_of(context, json=json)
    _must_be_there(context, yes=yes)
    rollout = _rollout(output, site, changes=True)
    agree = _agreement(rollout.site.name, yes=yes, no_return=no_return)
    try:
        found = rollout.run(agree, until, override or ())
    except KeyboardInterrupt:
        output.note(carry_out.GOES_ON)
        raise
    output.result(found.text(), {"succeeded": True, **found.as_json()})


@application.command()
def back(
    context: typer.Context,
    site: options.Site,
    *,
    to: To = None,
    yes: carry_out.Yes = False,
    json: options.Json = False,
) -> None:
    """Take back what was done, the last step first; refused past the point of no return."""
    output = options.output_of(context, json=json)
    _must_be_there(context, yes=yes)

    def agree(way_back: "Return") -> None:
        output.note(way_back.text())
        if not yes:
            _ask("Go back?")

    found = _rollout(output, site, changes=True).back(agree, to)
    output.result(found.text(), {"succeeded": True, **found.as_json()})


@application.command()
def rehearse(
    context: typer.Context,
    site: options.Site,
    *,
    hosts: Metal = False,
    host: options.Named = None,
    json: options.Json = False,
) -> None:
    """Carry the whole of it out on two rehearsal clusters: real stacks and checks; what cannot run there is played."""
    from rackwright.rollout.rehearsal.rehearse import rehearse as rehearsed

    output = options.output_of(context, json=json)
    if host and not hosts:
        raise typer.BadParameter("--host is for --hosts", ctx=context)
    found = rehearsed(site, output.progress, options.names_of(host) if hosts else None)
    output.result(found.text(), found.as_json())
    if not found.succeeded:
        raise typer.Exit(1)


def _rollout(output: Output, folder: Path, *, changes: bool = False) -> "Rollout":
    """The site's; where something is to change, with the vault's values, so that none comes into the journal."""
    from rackwright.rollout.built import live
    from rackwright.rollout.ground import Ground
    from rackwright.rollout.rollout import Rollout
    from rackwright.rollout.way import way
    from rackwright.secrets import Vault
    from rackwright.site.site import Site

    found, vault = Site.load(folder), Vault.of(folder)
    values = vault.read() if changes and vault.exists() else {}
    environment = _environment(folder, values) if changes else {}  # who only reads starts no program
    ground = Ground(folder, way(found), values, environment, output.progress)
    return Rollout(folder, found, live(ground), output.progress, tuple(values.values()))


def _environment(folder: Path, values: Mapping[str, str]) -> dict[str, str]:
    """What programs are started with: our own tools first, Pulumi's passphrase, the vault's password."""
    import os

    from rackwright.sandbox import tools
    from rackwright.secrets import Vault, passphrase_file
    from rackwright.secrets.vault import PASSWORD_VARIABLE

    found = dict(os.environ) | tools.find(tools.REHEARSAL).environment()
    if values:
        found |= {
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(passphrase_file.write(folder, values)),
            PASSWORD_VARIABLE: str(Vault.of(folder).password_file.absolute()),
        }
    return found


def _agreement(name: str, *, yes: bool, no_return: str | None) -> Callable[["Stage", Sequence["Place"]], None]:
    """How a stage is agreed to: by a word, or beforehand; the point of no return by the site's name alone."""
    if no_return not in (None, name):
        what = f"--no-return names {no_return or 'nothing'}, and the site is {name}; nothing was changed."
        raise Refusal(what, f"Write --no-return {name}, or leave it out.")

    def agree(stage: "Stage", left: Sequence["Place"]) -> None:
        if any(place.step.ends_the_way_back for place in left):
            if (no_return or _typed(stage, name)) != name:
                raise Refusal("Nothing was given up.", "Run it again when it suits; the way back stays open.")
        elif not yes:
            _ask(f"{stage.name}: {stage.title}, {len(left)} step{'s' * (len(left) != 1)}. Go on?")

    return agree


def _typed(stage: "Stage", name: str) -> str:
    if not sys.stdin.isatty():
        what = f"{stage.name} ends the way back, and nobody can be asked here."
        raise Refusal(what, f"Where that is what you want, add --no-return {name}.")
    text = f"{stage.name} ends the way back. Type the site's name, {name}, to go on"
    return str(typer.prompt(text, err=True)).strip()


def _ask(question: str) -> None:
    if not typer.confirm(question, err=True):
        raise Refusal("Nothing more was changed.", "Run it again when it suits.")


def _must_be_there(context: typer.Context, *, yes: bool) -> None:
    """Somebody agrees, beforehand or at a terminal."""
    if not yes and not sys.stdin.isatty():
        why = "nobody can be asked here; add --yes where the plan is what you want: rackwright rollout plan"
        raise typer.BadParameter(why, ctx=context)
