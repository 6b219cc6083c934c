"""Arguments that several commands take, each said once."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from rackwright.cli.output import Output
from rackwright.errors import Refusal

FILE_NAME = "site.yml"
INVENTORY = "inventory"


def output_of(context: typer.Context, *, json: bool = False) -> Output:
    """Where a command says what it has to say."""
    output: Output = context.find_root().obj
    output.json = json
    return output


def find_site(named: str) -> Path:
    """A site's folder from a folder, a site.yml or a bare name below inventory/."""
    try:
        return _site_of(Path(named))
    except OSError as error:  # a folder that may not be entered, a name that is too long
        from rackwright.site.reading.shown import shown

        raise Refusal(f"{shown(named)} cannot be read ({error.strerror}).", "Mend its owner, mode or name.") from None


def _site_of(path: Path) -> Path:
    if path.name == FILE_NAME and path.is_file():
        return path.parent
    if (path / FILE_NAME).is_file():
        return path
    below = Path(INVENTORY, path)
    if len(path.parts) == 1 and (below / FILE_NAME).is_file():
        return below
    raise typer.BadParameter(_no_site(path))


def _no_site(path: Path) -> str:
    from rackwright.site.reading.nearest import nearest

    if path.is_file():
        return f"{path} is a file, and a site is a folder with a {FILE_NAME} in it."
    file = path if path.name == FILE_NAME else path / FILE_NAME
    if os.path.lexists(file) and not (path == file and path.is_dir()):
        return f"{file} is no file, or a link that leads to none; write the site there."
    if path.is_dir():
        return f"{path} is a folder without a {FILE_NAME}."
    known = sorted(file.parent.name for file in Path(INVENTORY).glob(f"*/{FILE_NAME}"))
    hint = nearest(path.name, known) if known else f"there is no {INVENTORY}/ here: go to the checkout's root"
    return f"there is no site {path}; {hint}"


def phase_of(number: int) -> Literal[1, 2]:
    """A phase by its number."""
    return 2 if number == 2 else 1


def open_vault(site: Path) -> None:
    """Say at once, and in one sentence, that the vault does not open; Ansible would say it late and at length."""
    from rackwright.secrets import Vault

    vault = Vault.of(site)
    if vault.exists():
        vault.read()


def sentence(text: str) -> str:
    """A clause as a sentence of its own."""
    return text[0].upper() + text[1:]


def names_of(words: list[str] | None) -> list[str]:
    """Names that were given one by one, or several in a word with commas between them."""
    return [name.strip() for word in words or () for name in word.split(",") if name.strip()]


SITE_HELP = "A site's folder, its site.yml, or its name below inventory/."
Site = Annotated[Path, typer.Argument(parser=find_site, help=SITE_HELP)]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
Phase = Annotated[int, typer.Option(min=1, max=2, help="The phase of the site: 1 (k3s) or 2 (the rack).")]
Named = Annotated[
    list[str] | None, typer.Option("--host", metavar="NAME", help="With --hosts: this host alone; may be repeated.")
]
