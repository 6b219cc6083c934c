"""What stands on a GPU host already, judged against the driver that it is to have."""

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from rackwright.metal.driver import Driver

INSTALLED = "installed"
UPGRADE = "playbooks/upgrade.yml drains the node and exchanges the driver"
OLD_MODULE = 18  # nvidia-smi: the library and the module that is loaded differ
NO_MODULE = 9  # nvidia-smi: no module answers


@dataclass(frozen=True)
class Package:
    """A package that is installed, or that stopped on the way."""

    version: str
    state: str

    def is_of(self, release: str) -> bool:
        """True where it is of an upstream release, whatever epoch and revision its packager gave it."""
        return is_of(self.version, release)


@dataclass(frozen=True)
class Found:
    """A host as the module nvidia_driver_facts saw it."""

    kernel: str
    packages: dict[str, Package]
    offers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    is_ours: bool = False
    runfile: tuple[str, ...] = ()
    nouveau: bool = False
    loaded: str = ""
    module_version: str = ""
    module_license: str = ""
    serving: tuple[str, ...] = ()
    smi_code: int = 127
    smi_said: str = ""
    gpus: tuple[tuple[str, ...], ...] = ()
    fabric: tuple[str, ...] = ()

    @classmethod
    def understand(cls, answer: dict[str, Any]) -> "Found":
        """Plain data of the module's; what it does not say is not there."""
        known = {name: value for name, value in answer.items() if name in cls.__dataclass_fields__}
        known["packages"] = {name: Package(**each) for name, each in answer.get("packages", {}).items()}
        known["offers"] = {name: tuple(each) for name, each in answer.get("offers", {}).items()}
        known["gpus"] = tuple(tuple(row) for row in answer.get("gpus", ()))
        for name in ("held", "runfile", "serving", "fabric"):
            known[name] = tuple(answer.get(name, ()))
        return cls(**known)


def is_of(version: str, release: str) -> bool:
    """True where a package's version is of an upstream release."""
    bare = re.sub(r"^\d+:", "", version)
    return bare == release or bare.startswith((f"{release}-", f"{release}+"))


def is_of_the_driver(name: str, driver: Driver) -> bool:
    """True for a package that is built from the driver and must have its version."""
    return any(fnmatchcase(name, pattern) for pattern in driver.family)


def named(name: str, found: Found) -> str:
    """A package's name on the host, with its kernel."""
    return name.replace("{kernel}", found.kernel)


def foreign(driver: Driver, found: Found) -> dict[str, Package]:
    """Packages of the driver's that are of another version."""
    return {
        name: each
        for name, each in sorted(found.packages.items())
        if is_of_the_driver(name, driver) and not each.is_of(driver.version)
    }


def refusals(driver: Driver, found: Found) -> list[str]:
    """Why provision must leave this host alone: a sentence and its cure each; nothing where it may go on."""
    refused = []
    if found.runfile:
        refused.append(
            f"A driver of NVIDIA's .run installer is here ({', '.join(found.runfile)}), which packages cannot replace: "
            "run nvidia-uninstall, then reboot."
        )
    others = foreign(driver, found)
    if others:
        listed = ", ".join(f"{name} {each.version}" for name, each in others.items())
        cure = UPGRADE if found.is_ours else f"{_purge(driver)} {' '.join(others)}, with the workloads stopped"
        refused.append(f"A driver of another version than {driver.version} is here ({listed}): {cure}.")
    return refused


def not_offered(driver: Driver, found: Found) -> list[str]:
    """Packages that no configured repository has in the driver's version, and that are not installed in it."""
    names = [*driver.packages, *driver.companions, *driver.building]
    return [name for name in (named(each, found) for each in names) if not _can_be_had(name, driver, found)]


def missing(driver: Driver, found: Found) -> list[str]:
    """Packages that are yet to be installed."""
    names = [named(each, found) for each in (*driver.packages, *driver.companions, *driver.building)]
    return [name for name in names if name not in found.packages or found.packages[name].state != INSTALLED]


def holds(driver: Driver, found: Found) -> list[str]:
    """Packages that are yet to be put on hold: the driver's own and what comes with it."""
    ours = [name for name in found.packages if is_of_the_driver(name, driver) or name in driver.companions]
    return sorted(name for name in ours if name not in found.held and found.packages[name].state == INSTALLED)


def why_reboot(driver: Driver, found: Found) -> str:
    """Why the driver that is installed cannot work before a reboot; empty where it can, or where one would not help."""
    if found.nouveau:
        return "nouveau holds the GPUs"
    if found.loaded and found.loaded != driver.version:
        return f"driver {found.loaded} is loaded, and {driver.version} is installed"
    if found.smi_code == OLD_MODULE:
        return "the driver that is loaded is not the one that is installed"
    if found.smi_code == NO_MODULE and not found.loaded:
        return "the driver's module could not be loaded"
    return ""


def faults(driver: Driver, found: Found) -> list[str]:
    """What is not as it must be when the driver runs: a sentence each."""
    if found.smi_code:
        return [f"nvidia-smi ends with {found.smi_code}: {found.smi_said or 'it says nothing'}."]
    bad = []
    if len(found.gpus) != driver.gpus:
        bad.append(
            f"The driver shows {len(found.gpus)} GPUs, and the site says {driver.gpus}: look for one that has fallen "
            "off the bus (dmesg, the BMC's log)."
        )
    for index, version, persistence in found.gpus:
        if version != driver.version:
            bad.append(f"GPU {index} is driven by {version}, and {driver.version} is wanted.")
        if persistence != "Enabled":
            bad.append(f"GPU {index} has persistence mode {persistence}: look at nvidia-persistenced.")
    if found.module_version != driver.version:
        bad.append(
            f"The module for kernel {found.kernel} is of {found.module_version or 'no version'}, not {driver.version}: "
            "dkms status says why."
        )
    if found.module_version and ("GPL" in found.module_license) != (driver.flavour == "open"):
        bad.append(f"The module has license {found.module_license}, and the {driver.flavour} one is wanted.")
    bad += [f"{name} is of {each.version}, not {driver.version}." for name, each in foreign(driver, found).items()]
    if driver.has_fabric and set(found.fabric) != {"Completed"}:
        said = ", ".join(sorted(set(found.fabric))) or "no GPU says any"
        bad.append(f"The fabric's state is {said}, not Completed: journalctl -u nvidia-fabricmanager says why.")
    return bad


def _can_be_had(name: str, driver: Driver, found: Found) -> bool:
    here = found.packages.get(name)
    offers = found.offers.get(name, ())
    if is_of_the_driver(name, driver):
        return any(is_of(each, driver.version) for each in (*offers, *((here.version,) if here else ())))
    return bool(offers or here)


def _purge(driver: Driver) -> str:
    return "apt-get purge" if driver.package_system == "apt" else "dnf remove"
