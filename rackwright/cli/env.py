"""`rackwright env`: what a shell needs for pulumi and ansible by hand."""

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from rackwright.cli import options
from rackwright.cli.output import Output
from rackwright.errors import Refusal

PASSPHRASE = "PULUMI_CONFIG_PASSPHRASE_FILE"  # noqa: S105 - the name of a variable


def env(
    context: typer.Context,
    site: options.Site,
    *,
    end: Annotated[bool, typer.Option("--end", help="Take back what it set.")] = False,
) -> None:
    """Print what a shell needs to run pulumi and ansible.

    Use it as: eval "$(rackwright env SITE)"
    """
    from rackwright.secrets import passphrase_file
    from rackwright.secrets.vault import PASSWORD_VARIABLE

    output = options.output_of(context)
    if end:
        passphrase_file.remove(site)
        output.text(f"unset {PASSPHRASE} {PASSWORD_VARIABLE}")
        return
    _refuse_lost_letters(site.absolute())
    variables = _tools(output) | _secrets(site, output)
    output.text("\n".join(f"export {name}={shlex.quote(value)}" for name, value in sorted(variables.items())))


def _refuse_lost_letters(folder: Path) -> None:
    """What a terminal does not print is escaped on the way to it, and the shell would look for another folder."""
    name = str(folder)
    if not name.isprintable() or name.encode(sys.stdout.encoding, "ignore").decode(sys.stdout.encoding) != name:
        raise Refusal(
            f"The folder {name!r} has letters in its name that do not reach a shell from here.",
            "Give it a plain name, or set LC_ALL=C.UTF-8.",
        )


def _tools(output: Output) -> dict[str, str]:
    """The tools that are there now, and this Python's own programs, first on the path; nothing is built."""
    from rackwright.sandbox import tools

    toolbox = tools.find(tools.REHEARSAL)
    missing = [name for name in tools.REHEARSAL if name not in toolbox]
    if missing:
        output.note(f"Not there yet: {', '.join(missing)}; rackwright tools --build makes them.")
    variables = toolbox.environment()
    programs = str(Path(sys.executable).parent)
    path = [programs, *variables.get("PATH", os.environ.get("PATH", "")).split(os.pathsep)]
    return variables | {"PATH": os.pathsep.join(dict.fromkeys(filter(None, path)))}


def _secrets(site: Path, output: Output) -> dict[str, str]:
    from rackwright.secrets import Vault, passphrase_file
    from rackwright.secrets.vault import PASSWORD_VARIABLE

    vault = Vault.of(site)
    if not vault.exists():
        output.note(f"There is no vault yet: {vault.make} makes it, then run this again.")
        return {}
    passphrase = passphrase_file.write(site, vault.read())
    return {PASSPHRASE: str(passphrase), PASSWORD_VARIABLE: str(vault.password_file.absolute())}
