"""Looking for programs that are there already."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache as remembered
from importlib import metadata
from pathlib import Path

from rackwright.sandbox.tools import cache
from rackwright.sandbox.tools.declaration import FAMILIES, Tool, Version, parse_version, spell
from rackwright.sandbox.tools.toolbox import Found, Source

SECONDS_TO_ANSWER = 15


@remembered
def ask(path: Path, arguments: tuple[str, ...]) -> Version | None:
    """The version that a program prints; None if it prints none, fails or hangs."""
    try:
        said = subprocess.run(
            [path, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS_TO_ANSWER,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(said.stdout + said.stderr) if said.returncode == 0 else None


def in_cache(tool: Tool) -> Found | None:
    """The program that was built before, if its pins are still these."""
    family = FAMILIES[tool.family]
    folder = cache.home(family)
    if not cache.is_whole(folder):
        return None
    ours = tool.name in family.beside
    version = metadata.version("pulumi") if ours else family.release
    return Found(tool, folder / "bin" / tool.name, version, Source.OURS if ours else Source.CACHE)


def on_path(tool: Tool) -> tuple[Found | None, str | None]:
    """The program on PATH if it will do, else a sentence that says why it will not; neither if there is none."""
    path = outside_the_cache(tool.name)
    if path is None:
        return None, None
    version = ask(path, tool.ask)
    if version is None:
        return None, f"{tool.name} on PATH ({path}) does not tell its version; it was passed over."
    if not tool.accepts(version):
        return None, f"{tool.name} on PATH is {spell(version)} and {tool.wants} is wanted; it was passed over."
    return Found(tool, path, spell(version), Source.PATH), None


def outside_the_cache(name: str) -> Path | None:
    """The first program of that name on PATH that we have not put there ourselves."""
    ours = cache.cache_folder()
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which(name, path=folder) if folder else None
        if found and not Path(found).is_relative_to(ours) and not Path(found).resolve().is_relative_to(ours):
            return Path(found)
    return None
