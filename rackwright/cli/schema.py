"""`rackwright schema`: the JSON schema of a site file."""

import typer

from rackwright.cli.options import output_of


def schema(context: typer.Context) -> None:
    """Print the JSON schema of a site file, for an editor."""
    import json

    from rackwright.site.site import Site

    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Site.model_json_schema()
    output_of(context).text(json.dumps(schema, indent=2))
