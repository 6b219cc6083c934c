"""What machines of a site ask for outside, answered: the time (NTP) and names of the site's own (DNS)."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from ipaddress import IPv4Address

TIME_PORT, NAME_PORT = 123, 53
SINCE_1900 = 2_208_988_800  # seconds between NTP's epoch and ours
NTP = struct.Struct("!BBBbII4sQQQQ")
SERVER, STRATUM, PRECISION = 4, 2, -20
HEADER = struct.Struct("!HHHHHH")
ANSWER = struct.Struct("!HHHIH")
ADDRESS, POINTER, INTERNET = 1, 12, 1
RESPONSE, RECURSION, NO_SUCH_NAME, NOT_UNDERSTOOD = 0x8400, 0x0180, 3, 1
SECONDS_TO_LIVE = 60


def answer_time(question: bytes, now: float) -> bytes | None:
    """The answer to a client's NTP packet; None where it is none."""
    if len(question) < NTP.size:
        return None
    first, _, poll, *_, transmitted = NTP.unpack_from(question)
    if first & 7 != 3:  # who is no client gets no answer
        return None
    time = _stamp(now)
    head = (first >> 3 & 7) << 3 | SERVER
    return NTP.pack(head, STRATUM, poll, PRECISION, 0, 0, b"HOST", time, transmitted, time, time)


def answer_name(question: bytes, names: Mapping[str, IPv4Address]) -> bytes | None:
    """The answer to a DNS question of one name; None where it is no question."""
    if len(question) < HEADER.size:
        return None
    number, flags, count, *_ = HEADER.unpack_from(question)
    if flags & 0x8000:
        return None
    asked = _question(question) if count == 1 else None
    if asked is None:
        return HEADER.pack(number, RESPONSE | RECURSION | NOT_UNDERSTOOD, 0, 0, 0, 0)
    name, kind, end = asked
    data = _data(name, kind, names)
    known = data is not None or name in names
    head = HEADER.pack(number, RESPONSE | RECURSION | (0 if known else NO_SUCH_NAME), 1, 1 if data else 0, 0, 0)
    body = question[HEADER.size : end]
    return head + body + (ANSWER.pack(0xC00C, kind, INTERNET, SECONDS_TO_LIVE, len(data)) + data if data else b"")


def _stamp(now: float) -> int:
    return int((now + SINCE_1900) * (1 << 32)) & (1 << 64) - 1


def _question(packet: bytes) -> tuple[str, int, int] | None:
    """The name and kind that are asked for, and where the question ends."""
    labels, place = [], HEADER.size
    while place < len(packet) and (length := packet[place]):
        if length > 63:
            return None
        labels.append(packet[place + 1 : place + 1 + length].decode("ascii", "replace").lower())
        place += 1 + length
    if place + 5 > len(packet):
        return None
    kind, _ = struct.unpack_from("!HH", packet, place + 1)
    return ".".join(labels), kind, place + 5


def _data(name: str, kind: int, names: Mapping[str, IPv4Address]) -> bytes | None:
    if kind == ADDRESS and name in names:
        return names[name].packed
    if kind == POINTER:
        found = next((host for host, address in names.items() if address.reverse_pointer == name), None)
        return b"".join(bytes([len(part)]) + part.encode() for part in found.split(".")) + b"\0" if found else None
    return None
