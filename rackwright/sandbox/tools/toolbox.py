"""The programs of one run: where each came from, and the environment in which they find each other."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rackwright.sandbox.tools.declaration import Tool

NO_FETCHING = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"


class Source(StrEnum):
    """Where a program came from."""

    PATH = "found on PATH"
    PLUGINS = "found among Pulumi's plugins"
    CACHE = "built earlier"
    BUILT = "built now"
    OURS = "Rackwright's own"


@dataclass(frozen=True)
class Found:
    """A program that will do."""

    tool: Tool
    path: Path
    version: str
    source: Source

    def report(self) -> dict[str, str]:
        """It as plain data."""
        return {
            "name": self.tool.name,
            "version": self.version,
            "source": self.source.value,
            "path": str(self.path),
        }


class Toolbox(Mapping[str, Found]):
    """The programs by name."""

    def __init__(self, found: Mapping[str, Found], passed_over: tuple[str, ...] = ()) -> None:
        self._found = dict(found)
        self.passed_over = passed_over
        """A sentence for each program on PATH that would not do."""

    def __getitem__(self, name: str) -> Found:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def report(self) -> list[dict[str, str]]:
        """Every program as plain data, for `--json`."""
        return [found.report() for found in self.values()]

    def environment(self) -> dict[str, str]:
        """Variables to lay over the environment, so that these programs and no others are found."""
        ahead: list[str] = []
        for found in self.values():
            if found.source is not Source.PATH and str(found.path.parent) not in ahead:
                ahead.append(str(found.path.parent))
        # Without the provider it must be allowed to fetch it; with ours, a fetched one would be another than was said.
        fetching = {} if "pulumi-resource-kubernetes" not in self else {NO_FETCHING: "true"}
        return {
            "PATH": os.pathsep.join([*ahead, os.environ.get("PATH", os.defpath)]),
            "RACKWRIGHT_PYTHON": sys.executable,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            **fetching,
        }
