"""The one transaction that brings a driver, and whether what it would do is what was asked for."""

import re

from rackwright.metal.driver import Driver
from rackwright.metal.driver_found import INSTALLED, Found, foreign, is_of, is_of_the_driver, named

INSTALLS = re.compile(r"^Inst (\S+)(?: \[[^\]]*\])? \((\S+) ", re.MULTILINE)
REMOVES = re.compile(r"^(?:Remv|Purg) (\S+)", re.MULTILINE)


def transaction(driver: Driver, found: Found) -> list[str]:
    """Every package at once: one by one, packages that must be of one version hold each other back."""
    wanted = [_at_its_version(named(name, found), driver) for name in (*driver.packages, *driver.companions)]
    if driver.package_system == "dnf":
        return wanted
    return wanted + exchanged(driver, found)


def exchanged(driver: Driver, found: Found) -> list[str]:
    """What is there of another version: it comes along where the new version has it, and goes where it has not."""
    asked = {named(name, found) for name in driver.packages}
    words = []
    for name in foreign(driver, found):
        if name in asked:
            continue
        is_offered = any(is_of(each, driver.version) for each in found.offers.get(name, ()))
        words.append(_at_its_version(name, driver) if is_offered else f"{name}-")
    return words


def unwanted(driver: Driver, found: Found, simulation: str, exchanges: bool) -> list[str]:
    """What a simulated transaction of apt's would do that nobody asked for: a sentence each."""
    installs = {name.split(":")[0]: version for name, version in INSTALLS.findall(simulation)}
    gone = [name.split(":")[0] for name in REMOVES.findall(simulation)]
    bad = [
        f"it would install {name} {version}, which is not of {driver.version}"
        for name, version in installs.items()
        if is_of_the_driver(name, driver) and not is_of(version, driver.version)
    ]
    meant = set(foreign(driver, found)) if exchanges else set()
    bad += [f"it would remove {name}" for name in gone if name not in meant]
    left = [name for name in foreign(driver, found) if name not in installs and name not in gone]
    bad += [f"it would leave {name} {found.packages[name].version}" for name in left if exchanges]
    return bad


def is_complete(driver: Driver, found: Found) -> bool:
    """True where every package of the driver's is installed in its version, so that nothing has to be asked for."""
    names = [named(name, found) for name in (*driver.packages, *driver.companions, *driver.building)]
    here = [found.packages.get(name) for name in names]
    return all(each and each.state == INSTALLED for each in here) and not foreign(driver, found)


def _at_its_version(name: str, driver: Driver) -> str:
    """A package with the driver's version, whatever revision its packager gave it; others at whichever is offered."""
    if not is_of_the_driver(name, driver):
        return name
    return f"{name}={driver.version}-*" if driver.package_system == "apt" else f"{name}-{driver.version}"
