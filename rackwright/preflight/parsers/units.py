"""`systemctl show`: which units are there, and which run."""

from typing import NamedTuple

from rackwright.preflight.answers import Said
from rackwright.preflight.parsers.clock import properties
from rackwright.preflight.parsers.tables import why_not
from rackwright.preflight.seen import NotSeen


class Unit(NamedTuple):
    """A unit of systemd's."""

    name: str
    is_there: bool
    is_active: bool
    is_enabled: bool


def units(said: Said) -> dict[str, Unit]:
    """Units by name without its kind, one block of lines each."""
    if said.code:
        raise NotSeen("Units", f"systemctl: {why_not(said)}")
    found = {}
    for shown in map(properties, said.out.split("\n\n")):
        name = shown.get("Id", "").rpartition(".")[0]
        if name:
            found[name] = Unit(
                name,
                is_there=shown.get("LoadState") == "loaded",
                is_active=shown.get("ActiveState") in {"active", "activating", "reloading"},
                is_enabled=shown.get("UnitFileState", "").startswith("enabled"),
            )
    return found
