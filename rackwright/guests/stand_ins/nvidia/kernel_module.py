"""A kernel module that modinfo and depmod read, and that no kernel loads: it holds words alone."""

import struct

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
RELOCATABLE, X86_64, PROGRAM_BITS, TEXTS, SYMBOLS = 1, 62, 1, 3, 2
ALLOCATED = 2


def kernel_module(version: str, flavour: str) -> bytes:
    """The module `nvidia` of a version: an object file with what a module says of itself, and no code."""
    words = {
        "license": "Dual MIT/GPL" if flavour == "open" else "NVIDIA",
        "version": version,
        "description": "Stand-in by Rackwright for a rehearsal; it drives nothing",
        "name": "nvidia",
    }
    said = b"".join(f"{key}={value}".encode() + b"\0" for key, value in words.items())
    names = b"\0.modinfo\0.symtab\0.strtab\0.shstrtab\0"
    bodies = (said, bytes(24), b"\0", names)
    offsets = [HEADER.size]
    for body in bodies:
        offsets.append(_aligned(offsets[-1] + len(body)))
    sections = [
        SECTION.pack(0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        SECTION.pack(1, PROGRAM_BITS, ALLOCATED, 0, offsets[0], len(said), 0, 0, 1, 0),
        SECTION.pack(10, SYMBOLS, 0, 0, offsets[1], 24, 3, 1, 8, 24),
        SECTION.pack(18, TEXTS, 0, 0, offsets[2], 1, 0, 0, 1, 0),
        SECTION.pack(26, TEXTS, 0, 0, offsets[3], len(names), 0, 0, 1, 0),
    ]
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = HEADER.pack(identity, RELOCATABLE, X86_64, 1, 0, 0, offsets[4], 0, 64, 0, 0, 64, len(sections), 4)
    image = bytearray(header)
    for body, offset in zip(bodies, offsets, strict=False):
        image.extend(bytes(offset - len(image)) + body)
    image.extend(bytes(offsets[4] - len(image)))
    return bytes(image) + b"".join(sections)


def _aligned(offset: int) -> int:
    return (offset + 7) // 8 * 8
