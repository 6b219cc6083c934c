"""`rackwright schema`: the JSON schema of a site file."""

import typer

from rackwright.cli.options import output_of


def schema(context: typer.Context) -> None:
    """Print the JSON schema of a site file, for an editor."""
    import json

    from rackwright.site.schema import schema

    output_of(context).text(json.dumps(schema(), indent=2))
