"""What belongs to Pulumi's engine: its language host, and the provider that an official one has fetched."""

from __future__ import annotations

import os
import subprocess
from importlib import metadata
from pathlib import Path

from rackwright.sandbox.locks import Progress
from rackwright.sandbox.tools.declaration import FAMILIES, Tool, Version, parse_version, spell
from rackwright.sandbox.tools.search import outside_the_cache
from rackwright.sandbox.tools.toolbox import Found, Source
from rackwright.user_path import user_path

SECONDS_TO_FETCH = 300


def language_host(tool: Tool, pulumi: Found) -> Found:
    """The language host that came with an engine from PATH, beside it or on PATH itself, else ours."""
    beside = pulumi.path.resolve().parent / tool.name
    path = beside if os.access(beside, os.X_OK) else outside_the_cache(tool.name)
    if path:
        return Found(tool, path, pulumi.version, Source.PATH)
    return Found(tool, FAMILIES[tool.family].folder / tool.name, metadata.version("pulumi"), Source.OURS)


def provider_plugin(tool: Tool) -> Found | None:
    """The newest fitting provider among the plugins that an official Pulumi has fetched."""
    configured = os.environ.get("PULUMI_HOME", "")
    plugins = (Path(configured) if configured else user_path("~/.pulumi")) / "plugins"
    best: tuple[Version, Path] | None = None
    for folder in plugins.glob("resource-kubernetes-v*"):
        version, path = parse_version(folder.name), folder / tool.name
        if version and tool.accepts(version) and os.access(path, os.X_OK) and (best is None or version > best[0]):
            best = (version, path)
    return Found(tool, best[1], spell(best[0]), Source.PLUGINS) if best else None


def fetch_provider(tool: Tool, pulumi: Found, progress: Progress) -> Found | None:
    """Have an official engine fetch the provider that the Python library names; None where it does not reach it."""
    wanted = metadata.version("pulumi-kubernetes")
    progress(f"Fetching Pulumi's Kubernetes provider {wanted}.")
    try:
        subprocess.run(
            [pulumi.path, "plugin", "install", "resource", "kubernetes", wanted],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS_TO_FETCH,
            check=False,
        )
    except subprocess.TimeoutExpired:
        progress("It did not come in time.")
    return provider_plugin(tool)
