"""`rackwright secrets`: the vault of a site."""

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli import options
from rackwright.cli.output import Output
from rackwright.errors import Refusal

if TYPE_CHECKING:
    from rackwright.secrets import Secret
    from rackwright.secrets.fill import Filled

VARIABLE = "RACKWRIGHT_SECRET_"

application = typer.Typer(help="Make, check and show secrets; ansible-vault edit changes one.", no_args_is_help=True)


@application.command()
def init(
    context: typer.Context,
    site: options.Site,
    *,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read NAME=VALUE lines of secrets that others make.")] = False,
    json: options.Json = False,
) -> None:
    """Make the vault, or add what is missing to it; what is there stays.

    Secrets that only others can make (tokens of a hub, keys of object storage) are asked for at a terminal, or taken
    from the environment (RACKWRIGHT_SECRET_ and the name in capitals) or from --stdin.
    """
    from rackwright.secrets import Vault, fill, required
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    found = Site.load(site)
    lines = _lines({secret.name for secret in required(found)}) if stdin else {}
    filled = fill(found, Vault.of(site), lambda secret: lines.get(secret.name) or _given(secret, ask=not stdin))
    _report(output, filled)


@application.command()
def check(context: typer.Context, site: options.Site, *, json: options.Json = False) -> None:
    """Open the vault and say whether it holds what the site needs."""
    from rackwright.secrets import Vault, complete, required
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    found = Site.load(site)
    vault = Vault.of(site)
    complete(found, vault.read(), site)
    secrets = [{"name": secret.name, "purpose": secret.purpose} for secret in required(found)]
    output.result(
        f"{vault.file}: all {len(secrets)} secrets.", {"succeeded": True, "file": str(vault.file), "secrets": secrets}
    )


@application.command()
def show(
    context: typer.Context,
    site: options.Site,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The secret's name in the vault.")],
) -> None:
    """Print one secret, and nothing else, to stdout."""
    from rackwright.secrets import open_vault
    from rackwright.site.reading.nearest import nearest

    values = open_vault(site)
    if name not in values:
        raise Refusal(f"The vault has no secret {name}.", options.sentence(nearest(name, values)))
    options.output_of(context).text(values[name])


def _lines(known: set[str]) -> dict[str, str]:
    """Secrets from standard input, which no other process can see."""
    from rackwright.site.reading.nearest import nearest

    values: dict[str, str] = {}
    for number, line in enumerate(sys.stdin.read().splitlines(), start=1):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals:
            raise Refusal(f"Line {number} of standard input is not NAME=VALUE.", "Write one secret on each line.")
        if name not in known:
            raise Refusal(
                f"Line {number} of standard input names no secret of this site.",
                options.sentence(nearest(name, sorted(known))),
            )
        values[name] = value
    return values


def _given(secret: "Secret", *, ask: bool) -> str | None:
    import getpass

    value = os.environ.get(VARIABLE + secret.name.upper())
    if value or not (ask and sys.stdin.isatty()):
        return value
    try:
        return getpass.getpass(f"{secret.name} ({secret.purpose.rstrip('.')}; Enter leaves it out): ")
    except EOFError:
        return None


def _report(output: Output, filled: "Filled") -> None:
    vault = filled.vault
    if filled.made_password:
        output.note(
            f"{vault.password_file} is the vault's password, made now: keep a copy where you keep passwords, "
            "and never commit it; without it the secrets are lost."
        )
    counts = f"{len(filled.generated)} generated, {len(filled.given)} given, {len(filled.kept)} kept"
    if filled.missing:
        names = ", ".join(secret.name for secret in filled.missing)
        first = filled.missing[0].name
        raise Refusal(
            f"{vault.file}: {counts}, and {len(filled.missing)} still missing, which others make: {names}.",
            f"Run it again at a terminal, with {VARIABLE}{first.upper()} set, or with {first}=... piped into --stdin.",
        )
    data = {"succeeded": True, "file": str(vault.file), "password_file": str(vault.password_file)}
    names_by_fate = {"generated": filled.generated, "given": filled.given, "kept": filled.kept}
    output.result(f"{vault.file}: {counts}.", data | names_by_fate)
