"""The NVIDIA driver that is there, and automatic updates that would move it."""

import re
from typing import NamedTuple

from rackwright.preflight.answers import Gpus

LOADED = re.compile(r"NVRM version:.*?(Open Kernel Module|Kernel Module).*?\s(\d{3}(?:\.\d+){1,2})\s")
FIELD = re.compile(r"^(version|license|filename):\s+(\S.*)$", re.MULTILINE)
ON = re.compile(r'^APT::Periodic::Unattended-Upgrade "([1-9]\d*)";$', re.MULTILINE)
LISTED = re.compile(r'^Unattended-Upgrade::Package-Blacklist::? "([^"]*)";$', re.MULTILINE)


class Driver(NamedTuple):
    """A driver's version and kernel module: open or proprietary."""

    version: str
    flavour: str


def loaded_driver(gpus: Gpus) -> Driver | None:
    """The driver that runs, by the kernel's own words."""
    match = LOADED.search(gpus.driver_version or "")
    return Driver(match[2], "open" if match[1].startswith("Open") else "proprietary") if match else None


def built_driver(gpus: Gpus) -> Driver | None:
    """The driver that the running kernel would load."""
    fields = dict(FIELD.findall(gpus.module.out))
    if gpus.module.code or "version" not in fields:
        return None
    return Driver(fields["version"].strip(), "open" if "GPL" in fields.get("license", "") else "proprietary")


def upgrades_by_itself(automatic: str) -> bool:
    """True where unattended-upgrades is switched on."""
    return bool(ON.search(automatic))


def kept_from_upgrades(automatic: str) -> tuple[str, ...]:
    """Patterns of packages that unattended-upgrades leaves alone."""
    return tuple(pattern for pattern in LISTED.findall(automatic) if pattern)


def installs_by_itself(automatic: str) -> bool:
    """True where dnf-automatic installs what it finds."""
    return bool(re.search(r"^\s*apply_updates\s*=\s*(?:yes|true|1|on)\s*$", automatic, re.MULTILINE | re.IGNORECASE))


def excluded_from_upgrades(automatic: str) -> tuple[str, ...]:
    """Patterns of packages that dnf-automatic leaves alone."""
    found = re.findall(r"^\s*exclude(?:pkgs)?\s*=\s*(.*)$", automatic, re.MULTILINE)
    return tuple(pattern for line in found for pattern in re.split(r"[\s,]+", line) if pattern)
