"""Ports on this machine's own address."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack, suppress
from pathlib import Path

from rackwright.errors import Refusal

ADDRESS = "127.0.0.1"
LISTENING = "0A"


def free(count: int) -> list[int]:
    """That many ports that nobody has, all different."""
    with ExitStack() as holding:
        taken = [holding.enter_context(socket.socket()) for _ in range(count)]
        for each in taken:
            each.bind((ADDRESS, 0))
        return [each.getsockname()[1] for each in taken]


def demand(port: int) -> int:
    """The port, if nobody has it; a Refusal that names who has."""
    with socket.socket() as attempt:
        try:
            attempt.bind((ADDRESS, port))
        except OSError as error:
            if error.errno == errno.EACCES:
                raise Refusal(f"Port {port} is kept for the superuser.", "Choose one above 1023.") from error
            raise Refusal(
                f"Port {port} on {ADDRESS} is in use{_by_whom(port)}.",
                "End that program, choose another port, or name none: then a free one is taken.",
            ) from error
    return port


def _by_whom(port: int) -> str:
    """Who listens on a port, as far as this user may know."""
    sockets = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                columns = line.split()
                if columns[3] == LISTENING and int(columns[1].rpartition(":")[2], 16) == port:
                    sockets.add(f"socket:[{columns[9]}]")
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with suppress(OSError):
                if any(str(link.readlink()) in sockets for link in (process / "fd").iterdir()):
                    return f" by process {process.name} ({(process / 'comm').read_text().strip()})"
    return ""
