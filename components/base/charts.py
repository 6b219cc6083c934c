"""Helm charts, from the repository that the catalog names or from a folder on this machine."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import Refusal
from rackwright.site.catalog import Chart as Pin


@dataclass(frozen=True)
class Chart:
    """A chart by its name: as the catalog pins it, or as it lies in a folder of charts."""

    name: str
    pin: Pin
    folder: Path | None = None

    def source(self) -> dict[str, Any]:
        """Where a release gets the chart from; Refusal where the folder does not hold it."""
        if self.folder is not None:
            place = self._place(self.folder)
            # The provider compares a local chart by its name alone: the digest makes a change of content seen.
            return {"chart": str(place), "description": f"{self.name} {fingerprint(place)}"}
        if self.pin.repository.startswith("oci://"):
            return {"chart": f"{self.pin.repository}/{self.name}", "version": self.pin.version}
        return {
            "chart": self.name,
            "version": self.pin.version,
            "repository_opts": {"repo": self.pin.repository},
        }

    def _place(self, folder: Path) -> Path:
        places = (folder / self.name, folder / f"{self.name}-{self.pin.version}.tgz")
        for place in places:
            if place.is_file() or (place / "Chart.yaml").is_file():
                return place
        raise Refusal(
            f"The folder of charts {folder} holds neither {places[0].name}/Chart.yaml nor {places[1].name}.",
            f"Put the chart {self.name} {self.pin.version} there, or name no folder to use {self.pin.repository}.",
        )


def fingerprint(place: Path) -> str:
    """A digest over the names and contents of a chart's files."""
    digest = hashlib.sha256()
    for file in _files(place):
        digest.update(f"{file.relative_to(place.parent)}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _files(place: Path) -> Iterator[Path]:
    yield from sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else (place,)
