"""`rackwright tools`: which programs come from where."""

from typing import Annotated

import typer

from rackwright.cli import options
from rackwright.cli.output import Output


def tools(
    context: typer.Context,
    *,
    build: Annotated[
        bool, typer.Option("--build", help="Build those that are missing (about 20 minutes, once).")
    ] = False,
    image: Annotated[
        bool, typer.Option("--image", help="Make the image that guests boot (about 2 minutes, once, as root).")
    ] = False,
    json: options.Json = False,
) -> None:
    """Say which programs a rehearsal uses, and from where."""
    from rackwright.sandbox import tools

    output = options.output_of(context, json=json)
    if image:
        _make_image(output)
        return
    toolbox = tools.ensure(tools.REHEARSAL, progress=output.progress) if build else tools.find(tools.REHEARSAL)
    found = toolbox.report()
    missing = [name for name in tools.REHEARSAL if name not in {tool["name"] for tool in found}]
    lines = [f"{tool['name']:26} {tool['version']:12} {tool['source']:16} {tool['path']}" for tool in found]
    output.result(
        "\n".join([*lines, *(f"{name:26} missing: rackwright tools --build makes it" for name in missing)]),
        {"succeeded": not missing, "tools": found, "missing": missing},
    )
    if missing:
        raise typer.Exit(1)


def _make_image(output: Output) -> None:
    from rackwright.guests import image

    made = image.ensure(output.progress)
    output.result(f"The guests' image is in {made.folder}.", {"succeeded": True, "image": str(made.folder)})
