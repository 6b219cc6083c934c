"""What a failed build says, turned into one sentence and its cure."""

from __future__ import annotations

import os
from pathlib import Path

from rackwright.errors import Refusal

FULL = ("no space left on device", "disk quota exceeded")
UNREACHED = (
    "no such host",
    "dial tcp",
    "i/o timeout",
    "connection refused",
    "connection reset",
    "network is unreachable",
    "tls handshake",
    "proxyconnect",
    "temporary failure in name resolution",
    "bad gateway",
    "service unavailable",
    "module lookup disabled by goproxy=off",
)
FORGED = ("checksum mismatch", "security error")
STARVED = ("signal: killed", "out of memory", "cannot allocate memory")


def environment_without(*names: str, **more: str) -> dict[str, str]:
    """The environment without some variables and with others."""
    return {**{name: value for name, value in os.environ.items() if name not in names}, **more}


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def refusal(what: str, said: str, log: Path) -> Refusal:
    """Why a build failed, from what the go command wrote."""
    spoken = said.lower()
    if any(sign in spoken for sign in FULL):
        return Refusal(f"The disk is full, so {what} could not be built.", "Free some space and run this again.")
    if any(sign in spoken for sign in FORGED):
        return Refusal(
            f"A module that {what} is built from does not have the pinned checksum.",
            f"Do not trust the Go module proxy in use (`go env GOPROXY`); the details are in {log}.",
        )
    if any(sign in spoken for sign in UNREACHED):
        return Refusal(
            f"{what} could not be built, since the Go module proxy was not reached.",
            "Connect this machine, or set GOPROXY to a proxy that it reaches; what was fetched is kept.",
        )
    if any(sign in spoken for sign in STARVED):
        return Refusal(
            f"The compiler ran out of memory while it built {what}.",
            "Set GOFLAGS=-p=1 to compile one package at a time, or give the machine 8 GB.",
        )
    return Refusal(f"{what} could not be built: {last_line(said)}", f"The whole output is in {log}.")
