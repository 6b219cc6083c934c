"""Everything from upstream that Rackwright uses, at one version each, and what is known to fit together."""

from functools import cache
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from rackwright.site.document import read
from rackwright.site.settings import Settings

FILE = Path(__file__).resolve().parents[2] / "inventory" / "catalog.yml"


class Chart(Settings):
    """A Helm chart."""

    repository: str = Field(description="Where it is published, an address for `helm --repo` or an oci:// folder.")
    version: str = Field(description="Its version.")


class Image(Settings):
    """A container image."""

    repository: str = Field(description="Its name with the registry.")
    tag: str = Field(description="Its tag.")
    digest: str | None = Field(default=None, pattern=r"^sha256:[0-9a-f]{64}$", description="Its digest, where known.")

    @property
    def reference(self) -> str:
        """What a pod asks for."""
        return f"{self.repository}:{self.tag}" + (f"@{self.digest}" if self.digest else "")


class Driver(Settings):
    """One branch of the NVIDIA driver."""

    version: str = Field(description="The exact version.")
    fabric_manager: str = Field(description="The fabric manager's version, which must be the driver's.")
    flavours: tuple[Literal["open", "proprietary"], ...] = Field(description="Kernel modules that the branch has.")
    families: tuple[str, ...] = Field(description="GPU families that the branch drives.")

    @model_validator(mode="after")
    def _fabric_manager_is_the_drivers(self) -> Self:
        if self.fabric_manager != self.version:
            raise ValueError(
                f"fabric_manager {self.fabric_manager} differs from the driver's version {self.version}: "
                f"it would refuse to start; write {self.version}"
            )
        return self


class Kubernetes(Settings):
    """The one minor of Kubernetes, as k3s and as kubeadm."""

    minor: str = Field(pattern=r"^1\.\d+$", description="The minor that everything is chosen for.")
    k3s: str = Field(description="The k3s release of phase 1.")
    kubeadm: str = Field(description="The release of kubeadm, kubelet and kubectl in phase 2.")


class Fit(Settings):
    """What upstream says that one version of a component goes with."""

    kubernetes: tuple[str, ...] = Field(default=(), description="Minors of Kubernetes; empty: any.")
    drivers: tuple[str, ...] = Field(default=(), description="Driver versions; empty: any.")
    source: str = Field(description="Where upstream says so.")


class Catalog(Settings):
    """The pins, and the sets that fit."""

    kubernetes: Kubernetes
    drivers: dict[int, Driver]
    packages: dict[str, str]
    charts: dict[str, Chart]
    images: dict[str, Image]
    fits: dict[str, dict[str, Fit]] = Field(description="By component, by version.")

    @classmethod
    def load(cls, file: Path = FILE) -> "Catalog":
        """The catalog of this checkout, or of another file."""
        return _load(file)


@cache
def _load(file: Path) -> Catalog:
    return Catalog.model_validate(read(file).data)
