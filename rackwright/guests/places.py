"""Where devices sit on a guest's PCI bus: ports at the very places that the site names, the rest on the first bus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PLACE = re.compile(r"^pci-0000:([0-9a-f]{2}):00\.([0-7])$")
FIRST_BUS = "pcie.0"
# Slots of the first bus that the board itself does not use.
SLOTS = range(2, 31)


@dataclass(frozen=True)
class Place:
    """A bus and a function on it, as QEMU's options name them."""

    bus: str
    address: str

    def __str__(self) -> str:
        return f"bus={self.bus},addr={self.address},multifunction=on"


@dataclass(frozen=True)
class Bus:
    """The bus and the function of a path such as pci-0000:41:00.0."""

    number: int
    function: int


def parsed(path: str) -> Bus | None:
    """The place that a path names, where a guest can have a device there: alone behind a bridge, in domain 0."""
    match = PLACE.match(path)
    found = Bus(int(match[1], 16), int(match[2])) if match else None
    return found if found and found.number > 0 else None


def bridges(numbers: Iterable[int], first: Iterator[Place]) -> list[str]:
    """The devices that make buses of those numbers; each begins a chain of its own unless it follows another."""
    arguments: list[str] = []
    roots: dict[int, str] = {}
    for chassis, number in enumerate(sorted(set(numbers)), start=1):
        root = roots.get(number - 1)
        if root is None and number > 1:
            root = f"root{number:02x}"
            arguments += ["-device", f"pxb-pcie,id={root},bus_nr={number - 1},{_plain(next(first))}"]
        root = root or FIRST_BUS
        roots[number] = root
        slot = sum(1 for other in roots.values() if other == root) - 1
        where = _plain(next(first)) if root == FIRST_BUS else f"bus={root},addr={slot:02x}.0"
        arguments += ["-device", f"pcie-root-port,id={bus_id(number)},chassis={chassis},slot=0,{where}"]
    return arguments


def bus_id(number: int) -> str:
    """The name of the bus with a number."""
    return f"bus{number:02x}"


def free() -> Iterator[Place]:
    """Places on the first bus, one after the other."""
    for slot in SLOTS:
        yield Place(FIRST_BUS, f"{slot:02x}.0")


def shared(first: Iterator[Place], count: int) -> list[Place]:
    """Places for many devices, eight to a slot."""
    found: list[Place] = []
    while len(found) < count:
        slot = next(first)
        found += [Place(slot.bus, slot.address[:-1] + str(function)) for function in range(8)]
    return found[:count]


def _plain(place: Place) -> str:
    return f"bus={place.bus},addr={place.address}"
