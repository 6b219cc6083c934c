"""Link aggregation's own frames (802.1AX LACPDUs), read and written."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from enum import IntFlag
from typing import Self

GROUP = bytes.fromhex("0180c2000002")
SLOW_PROTOCOLS = 0x8809
HEAD = struct.Struct("!6s6sHBB")  # destination, source, ethertype, subtype, version
PARTY = struct.Struct("!BBH6sHHHB3x")  # type, length, system priority, system, key, port priority, port, state
LENGTH = 20
COLLECTOR = struct.pack("!BBH12x", 3, 16, 0)
END = bytes(52)


class State(IntFlag):
    """What a party says of its end of a link."""

    ACTIVE = 1
    SHORT_TIMEOUT = 2
    AGGREGATABLE = 4
    IN_SYNC = 8
    COLLECTING = 16
    DISTRIBUTING = 32
    DEFAULTED = 64
    EXPIRED = 128


@dataclass(frozen=True)
class Party:
    """One end of a link as it presents itself."""

    system: bytes
    key: int
    port: int
    state: State
    system_priority: int = 0x8000
    port_priority: int = 0x8000

    def packed(self, kind: int) -> bytes:
        """The party as actor (1) or partner (2) of a frame."""
        return PARTY.pack(
            kind, LENGTH, self.system_priority, self.system, self.key, self.port_priority, self.port, self.state
        )

    @classmethod
    def read(cls, data: bytes, kind: int) -> Self | None:
        """The party in a frame, where its place holds one."""
        found, length, priority, system, key, port_priority, port, state = PARTY.unpack(data)
        if (found, length) != (kind, LENGTH):
            return None
        return cls(system, key, port, State(state), priority, port_priority)


NOBODY = Party(bytes(6), 0, 0, State(0), 0, 0)


def is_lacp(frame: bytes) -> bool:
    """Whether a frame is one of aggregation's own."""
    return frame[:6] == GROUP and frame[12:15] == b"\x88\x09\x01"


def read(frame: bytes) -> tuple[Party, Party] | None:
    """Who speaks, and whom it sees at the other end; None where the frame is broken."""
    begin, middle, end = HEAD.size, HEAD.size + LENGTH, HEAD.size + 2 * LENGTH
    if not is_lacp(frame) or len(frame) < end:
        return None
    actor, partner = Party.read(frame[begin:middle], 1), Party.read(frame[middle:end], 2)
    return (actor, partner) if actor and partner else None


def write(source: bytes, actor: Party, partner: Party | None) -> bytes:
    """A frame from a port with the address `source`."""
    head = HEAD.pack(GROUP, source, SLOW_PROTOCOLS, 1, 1)
    return head + actor.packed(1) + (partner or NOBODY).packed(2) + COLLECTOR + END


def answer(ours: Party, theirs: Party) -> Party:
    """Our end once theirs is known: in step with it, and passing traffic as soon as it is in step too."""
    state = State.ACTIVE | State.SHORT_TIMEOUT | State.AGGREGATABLE | State.IN_SYNC
    if State.IN_SYNC in theirs.state:
        state |= State.COLLECTING | State.DISTRIBUTING
    return replace(ours, state=state)
