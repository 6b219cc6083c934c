"""`rackwright schema`: the JSON schema of a site file, and the page that explains it."""

from pathlib import Path
from typing import Annotated

import typer

from rackwright.cli.options import output_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "site-file.md"


def schema(
    context: typer.Context,
    *,
    write: Annotated[bool, typer.Option("--write", help="Renew docs/site-file.md from the models instead.")] = False,
) -> None:
    """Print the JSON schema of a site file, for an editor."""
    output = output_of(context)
    if write:
        from rackwright.site.reference import reference

        PAGE.write_text(reference(), encoding="utf-8")
        output.text(f"{PAGE} is written.")
        return
    import json

    from rackwright.site.schema import schema

    output.text(json.dumps(schema(), indent=2))
