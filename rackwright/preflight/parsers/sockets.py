"""`ss -Hltunp`: which ports are taken, and by whom."""

import re
from typing import NamedTuple

from rackwright.preflight.answers import Said
from rackwright.preflight.parsers.tables import why_not
from rackwright.preflight.seen import NotSeen

PROGRAM = re.compile(r'\(\("([^"]{1,64})",pid=(\d{1,10})')


class Listener(NamedTuple):
    """A program on a port; its name is empty where only root sees it."""

    protocol: str
    address: str
    port: int
    program: str


def listeners(said: Said) -> tuple[Listener, ...]:
    """Every port that something listens on."""
    if said.code:
        raise NotSeen("Ports in use", f"ss: {why_not(said)}")
    found = []
    for fields in (line.split(None, 6) for line in said.out.splitlines()):
        if len(fields) < 5:
            continue
        address, _, port = fields[4].rpartition(":")
        program = PROGRAM.search(fields[6]) if len(fields) > 6 else None
        if port.isdecimal() and len(port) <= 5:
            found.append(Listener(fields[0], address, int(port), program[1] if program else ""))
    return tuple(found)
