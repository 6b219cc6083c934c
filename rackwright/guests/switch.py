"""A rack's switch, without its cables: a frame in at one port, frames out at others."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

from rackwright.guests import lacp
from rackwright.guests.lacp import Party, State

MAC = bytes.fromhex("0200000000fe")
HEADER = 14
TAGGED = 0x8100
TAG = 4
RESERVED = bytes.fromhex("0180c20000")  # a bridge passes none of these on
SECONDS_BETWEEN_WORDS = {True: 1.0, False: 30.0}  # where the partner wants to hear of us often, and where not
SECONDS_UNTIL_SILENT = 15.0  # three by the book; an emulated machine may be busy for longer than that

Out = tuple[str, bytes]


@dataclass(frozen=True)
class SwitchPort:
    """A port as the switch is set up for it: the network without a tag, those behind tags, the bond it may be of."""

    name: str
    number: int
    untagged: str | None = None
    tagged: Mapping[int, str] = field(default_factory=dict)
    bond: str | None = None

    def tag_of(self, network: str) -> int | None:
        """The tag of a network at this port; 0 for the one without, None where it does not go there."""
        if network == self.untagged:
            return 0
        return next((tag for tag, name in self.tagged.items() if name == network), None)


@dataclass
class _Link:
    """What a port has heard from the other end."""

    partner: Party
    heard: float
    spoke: float = 0.0


class Switch:
    """Learns addresses, keeps networks apart, drops what is larger than a network's MTU, and is a bond's partner.

    A port that is meant for a bond is an ordinary one until it hears LACP, so that a machine is reached before its bond
    is made; real switches call that LACP fallback.
    """

    def __init__(self, ports: Iterable[SwitchPort], mtus: Mapping[str, int]) -> None:
        self.ports = {port.name: port for port in ports}
        self.mtus = mtus
        self.dropped: Counter[str] = Counter()
        self._links: dict[str, _Link] = {}
        self._learned: dict[tuple[str, bytes], str] = {}

    def receive(self, name: str, frame: bytes, now: float) -> list[Out]:
        """What goes out because of a frame; `now` is in seconds."""
        port = self.ports[name]
        if lacp.is_lacp(frame):
            return self._aggregate(port, frame, now)
        network, plain = self._untag(port, frame)
        fault = self._fault(port, network, plain)
        if network is None or fault:
            self.dropped[fault or ""] += 1
            return []
        origin = self._logical(port)
        self._learned[network, plain[6:12]] = origin
        return self._forward(network, plain, origin)

    def tick(self, now: float) -> list[Out]:
        """What is due: words to partners, and partners that have fallen silent are forgotten."""
        due = []
        for name, link in list(self._links.items()):
            short = State.SHORT_TIMEOUT in link.partner.state
            if now - link.heard > SECONDS_UNTIL_SILENT:
                self.unplug(name)
            elif now - link.spoke >= SECONDS_BETWEEN_WORDS[short]:
                due.append(self._say(self.ports[name], link, now))
        return due

    def unplug(self, name: str) -> None:
        """Forget what was behind a port."""
        origin = self._logical(self.ports[name])
        self._links.pop(name, None)
        self._learned = {key: where for key, where in self._learned.items() if where not in (name, origin)}

    def members(self, bond: str) -> list[SwitchPort]:
        """The ports of a bond that carry its traffic, in the order of their numbers."""
        ports = sorted((port for port in self.ports.values() if port.bond == bond), key=lambda port: port.number)
        joined = [port for port in ports if self._is_in_step(port)]
        first = next(iter(joined), None)
        return [port for port in joined if first and self._aggregate_of(port) == self._aggregate_of(first)]

    def _fault(self, port: SwitchPort, network: str | None, plain: bytes) -> str | None:
        """Why a frame goes nowhere, if it does."""
        if network is None:
            return "no such network at the port"
        if len(plain) < HEADER or plain[:5] == RESERVED:
            return "not to be passed on"
        if len(plain) - HEADER > self.mtus[network]:
            return "larger than the MTU"
        return None if self._passes(port) else "outside the bond"

    def _untag(self, port: SwitchPort, frame: bytes) -> tuple[str | None, bytes]:
        """The network that a frame is in, and the frame without its tag."""
        kind, control = struct.unpack_from("!HH", frame.ljust(HEADER + TAG, b"\0"), HEADER - 2)
        if kind != TAGGED:
            return port.untagged, frame
        plain = frame[:12] + frame[16:]
        tag = control & 0x0FFF
        return (port.tagged.get(tag) if tag else port.untagged), plain

    def _forward(self, network: str, plain: bytes, origin: str) -> list[Out]:
        known = self._learned.get((network, plain[:6])) if not plain[0] & 1 else None
        if known == origin:
            return []
        targets = {self._logical(port): port for port in self.ports.values() if self._passes(port)}
        wanted = {known: targets[known]} if known in targets else targets
        out = []
        for logical, port in wanted.items():
            tag = port.tag_of(network)
            if logical != origin and tag is not None:
                out.append((self._member(logical, port, plain).name, _tagged(plain, tag)))
        return out

    def _member(self, logical: str, port: SwitchPort, plain: bytes) -> SwitchPort:
        """The port that carries a frame: of a bond, always the same one for the same two ends."""
        if logical == port.name:
            return port
        members = self.members(logical)
        return members[crc32(plain[:12]) % len(members)]

    def _logical(self, port: SwitchPort) -> str:
        """The bond that a port is in by now, or the port itself."""
        return port.bond if port.bond and port in self.members(port.bond) else port.name

    def _passes(self, port: SwitchPort) -> bool:
        """Whether a port carries traffic: not beside a bond that has come up without it."""
        if not port.bond:
            return True
        members = self.members(port.bond)
        return not members or port in members

    def _is_in_step(self, port: SwitchPort) -> bool:
        return port.name in self._links and State.IN_SYNC in self._links[port.name].partner.state

    def _aggregate_of(self, port: SwitchPort) -> tuple[bytes, int]:
        partner = self._links[port.name].partner
        return partner.system, partner.key

    def _aggregate(self, port: SwitchPort, frame: bytes, now: float) -> list[Out]:
        parties = lacp.read(frame)
        if parties is None or port.bond is None:
            self.dropped["no bond at the port"] += 1
            return []
        before = self._logical(port)
        link = self._links[port.name] = _Link(parties[0], now)
        if self._logical(port) != before:  # addresses move with the port into its bond
            self._learned = {key: where for key, where in self._learned.items() if where != before}
        return [self._say(port, link, now)]

    def _say(self, port: SwitchPort, link: _Link, now: float) -> Out:
        link.spoke = now
        bonds = sorted({other.bond for other in self.ports.values() if other.bond})
        ours = Party(MAC, bonds.index(port.bond or "") + 1, port.number, State(0))
        return port.name, lacp.write(MAC, lacp.answer(ours, link.partner), link.partner)


def _tagged(plain: bytes, tag: int) -> bytes:
    return plain[:12] + struct.pack("!HH", TAGGED, tag) + plain[12:] if tag else plain
