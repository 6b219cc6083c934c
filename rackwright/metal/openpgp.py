"""Fingerprints of OpenPGP keys, reckoned from the keys themselves: a host need not have a program for it."""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator

from rackwright.errors import Refusal

ARMOUR = re.compile(rb"-----BEGIN PGP PUBLIC KEY BLOCK-----(.*?)-----END PGP PUBLIC KEY BLOCK-----", re.DOTALL)
PUBLIC_KEY = 6  # the packet of a key that others hang on: RFC 4880, 4.3
VERSION_4 = 4


def fingerprints(content: bytes) -> list[str]:
    """Of each key in a file, armoured or not (RFC 4880, 12.2); Refusal where it holds none that is understood."""
    blocks = [_unarmoured(block) for block in ARMOUR.findall(content)] or [content]
    found = []
    for tag, body in (packet for block in blocks for packet in _packets(block)):
        if tag == PUBLIC_KEY:
            if body[:1] != bytes([VERSION_4]):
                raise _unreadable(f"a key of version {body[0] if body else 'unknown'}")
            head = b"\x99" + len(body).to_bytes(2, "big")
            found.append(hashlib.sha1(head + body, usedforsecurity=False).hexdigest().upper())
    if not found:
        raise _unreadable("no public key")
    return found


def _unarmoured(block: bytes) -> bytes:
    """What an armour holds, without its own headers and the checksum at its end."""
    lines = [line.strip() for line in block.splitlines()]
    try:
        return base64.b64decode(
            b"".join(line for line in lines if b":" not in line and line[:1] != b"="), validate=True
        )
    except binascii.Error:
        raise _unreadable("an armour that is broken") from None


def _packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Each packet's kind and content, in both forms of headers (RFC 4880, 4.2)."""
    at = 0
    while at < len(data):
        head = data[at]
        if not head & 0x80:
            raise _unreadable("something else than packets")
        is_new = bool(head & 0x40)
        tag = head & 0x3F if is_new else head >> 2 & 0x0F
        length, start = _new_length(data, at + 1) if is_new else _old_length(data, at + 1, head & 3)
        if start + length > len(data):
            raise _unreadable("a packet that is cut off")
        yield tag, data[start : start + length]
        at = start + length


def _old_length(data: bytes, at: int, kind: int) -> tuple[int, int]:
    if kind == 3:
        raise _unreadable("a packet without a length")
    size = 1 << kind
    return int.from_bytes(data[at : at + size], "big"), at + size


def _new_length(data: bytes, at: int) -> tuple[int, int]:
    first = data[at] if at < len(data) else 0
    if first < 192:
        return first, at + 1
    if first < 224 and at + 1 < len(data):
        return (first - 192 << 8) + data[at + 1] + 192, at + 2
    if first == 255:
        return int.from_bytes(data[at + 1 : at + 5], "big"), at + 5
    raise _unreadable("a packet in parts")


def _unreadable(what: str) -> Refusal:
    return Refusal(f"The file of the key holds {what}.", "Look where it comes from: a page of errors is no key.")
