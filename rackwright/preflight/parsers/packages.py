"""What package systems say: offered, installed, held."""

import re
from typing import NamedTuple

from rackwright.preflight.answers import Packages
from rackwright.preflight.parsers.tables import why_not
from rackwright.preflight.seen import NotSeen

OFFERED = "What the repositories offer"
SOURCE = re.compile(r"^\s+-?\d+ (?:https?|ftp|file|copy|cdrom|mirror[+\w]*|tor[+\w]*):", re.MULTILINE)
INSTALLED = re.compile(r"^[uihrp]i\s+(\S+) (\S+)$", re.MULTILINE)
EPOCH = re.compile(r"^\d+:")
LOCKED = re.compile(r"^!?(?:\d+:)?(.+?)-(?:\d+:)?\d[^-]*-[^-]+$")


class Installed(NamedTuple):
    """A package that is installed, without its version's epoch."""

    name: str
    version: str

    def is_of(self, release: str) -> bool:
        """True where the package is of an upstream release, whatever the packager appended."""
        return self.version == release or self.version.startswith((f"{release}-", f"{release}+"))


def offered(packages: Packages) -> frozenset[str]:
    """Names of the packages asked for that a repository, or the machine itself already, has."""
    if not packages.system:
        raise NotSeen(OFFERED, "there is neither apt nor dnf")
    if packages.offered.code:
        raise NotSeen(OFFERED, why_not(packages.offered))
    have = _of_apt(packages.offered.out) if packages.system == "apt" else _of_dnf(packages.offered.out)
    return frozenset(have)


def _of_apt(policy: str) -> set[str]:
    """Packages with a candidate out of a repository, or installed already."""
    found = set()
    for block in re.split(r"^(?=\S)", policy, flags=re.MULTILINE):
        name, colon, body = block.partition(":\n")
        has_candidate = "Candidate: " in body and "Candidate: (none)" not in body
        is_installed = "Installed: " in body and "Installed: (none)" not in body
        if colon and has_candidate and (is_installed or SOURCE.search(body)):
            found.add(name.strip())
    return found


def _of_dnf(lines: str) -> set[str]:
    """Names, and names with their full version, since a kernel's headers are asked for by the latter."""
    fields = [line.split() for line in lines.splitlines()]
    return {part for each in fields if len(each) > 1 for part in (each[0], f"{each[0]}-{each[1]}")}


def installed(packages: Packages) -> dict[str, Installed]:
    """Packages of interest that are installed, by name; patterns that match none are no error."""
    if not packages.system:
        raise NotSeen("Installed packages", "there is neither apt nor dnf")
    found = INSTALLED.findall(packages.installed.out)
    return {name: Installed(name, EPOCH.sub("", version)) for name, version in found}


def held(packages: Packages) -> frozenset[str]:
    """Names of packages that are kept at their version."""
    lines = [line.strip() for line in packages.held.out.splitlines()]
    if packages.system == "dnf":
        return frozenset(match[1] for line in lines if (match := LOCKED.match(line)))
    if packages.held.code:
        raise NotSeen("Packages on hold", why_not(packages.held))
    return frozenset(line for line in lines if line)
