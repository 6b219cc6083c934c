"""The container toolkit of a GPU host: four packages of one version."""

from dataclasses import dataclass
from typing import Literal

from rackwright.metal.repositories import Repository, is_rpm, toolkit
from rackwright.site.catalog import Catalog
from rackwright.site.operating_system import OperatingSystem

PACKAGE = "nvidia-container-toolkit"
PACKAGES = (PACKAGE, "nvidia-container-toolkit-base", "libnvidia-container-tools", "libnvidia-container1")


@dataclass(frozen=True)
class Toolkit:
    """What the role container_toolkit is told."""

    version: str
    package_system: Literal["apt", "dnf"]
    repository: Repository
    packages: tuple[str, ...]
    transaction: tuple[str, ...]


def container_toolkit(system: OperatingSystem, catalog: Catalog) -> Toolkit:
    """The catalog's toolkit on a system."""
    version = catalog.packages[PACKAGE]
    system_of_packages: Literal["apt", "dnf"] = "dnf" if is_rpm(system) else "apt"
    between, end = ("=", "-*") if system_of_packages == "apt" else ("-", "")
    return Toolkit(
        version=version,
        package_system=system_of_packages,
        repository=toolkit(system, catalog),
        packages=PACKAGES,
        transaction=tuple(f"{name}{between}{version}{end}" for name in PACKAGES),
    )
