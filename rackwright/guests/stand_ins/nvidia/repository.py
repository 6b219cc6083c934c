"""The stand-in repositories as a folder, and what a guest needs to take them for a mirror that it was given."""

import json
from collections.abc import Sequence
from pathlib import Path

from rackwright.guests.stand_ins.deb import Deb, write_repository
from rackwright.guests.stand_ins.nvidia.distribution_packages import (
    build_packages,
    server_packages,
    transitional_packages,
)
from rackwright.guests.stand_ins.nvidia.driver_packages import driver_packages, pinning_packages, subnet_manager
from rackwright.guests.stand_ins.nvidia.toolkit_packages import toolkit_packages
from rackwright.metal.toolkit import PACKAGE
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host

PLACE = "/srv/nvidia-stand-in"
SOURCES = "/etc/apt/sources.list.d/nvidia-stand-in.list"
MACHINE = "/etc/nvidia-stand-in/machine.json"
SHORT_LIVED = 590  # the branch whose names in Ubuntu's archive lead to the next one


def write_repositories(folder: Path, catalog: Catalog, kernels: Sequence[str]) -> None:
    """NVIDIA's repository with every branch of the catalog's, and a distribution's for some kernels."""
    versions = [driver.version for driver in catalog.drivers.values()]
    nvidia: list[Deb] = [each for version in versions for each in driver_packages(version)]
    nvidia += [*pinning_packages(tuple(catalog.drivers)), subnet_manager()]
    toolkit = catalog.packages[PACKAGE]
    nvidia += [each for version in (toolkit, _newer(toolkit)) for each in toolkit_packages(version)]
    write_repository(folder / "nvidia", nvidia, "NVIDIA (stand-in)")
    system: dict[str, Deb] = {}
    after = min((branch for branch in catalog.drivers if branch > SHORT_LIVED), default=None)
    for kernel in kernels:
        found = [*build_packages(kernel), *(each for version in versions for each in server_packages(version, kernel))]
        system |= {each.file_name: each for each in found}
    if after is not None:
        found = list(transitional_packages(SHORT_LIVED, catalog.drivers[after].version))
        system |= {each.file_name: each for each in found}
    write_repository(folder / "distribution", system.values(), "Distribution (stand-in)")


def sources(place: str = PLACE) -> str:
    """Lines for apt, of a mirror that a host was given."""
    return "".join(f"deb [trusted=yes] file:{place}/{name} ./\n" for name in ("nvidia", "distribution"))


def machine(host: Host) -> str:
    """The GPUs that the stand-in nvidia-smi shows, out of the site."""
    if host.gpus is None:
        return json.dumps({"gpus": 0})
    gpus = host.gpus
    fabric = "" if gpus.link != "nvswitch" else "nvlink5" if gpus.known.family == "blackwell" else "nvswitch"
    shown = {"gpus": gpus.count, "name": gpus.variant.label.replace("-", " ").strip()}
    return json.dumps({**shown, "memory_mib": gpus.variant.memory_mib, "fabric": fabric})


def _newer(version: str) -> str:
    """The next release of a version, which nobody pinned."""
    head, _, last = version.rpartition(".")
    return f"{head}.{int(last) + 1}"
