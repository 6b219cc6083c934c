"""Who is at it: the person, the machine and the process."""

import os
import pwd
import socket
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Who:
    """Somebody, at a machine, in a process."""

    user: str
    host: str
    pid: int

    @property
    def short(self) -> str:
        """In one word."""
        return f"{self.user}@{self.host}:{self.pid}"


def who() -> Who:
    """Whoever runs this; with sudo, the one who asked for it."""
    user, host = _names()
    return Who(user, host, os.getpid())


@cache
def _names() -> tuple[str, str]:
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        user = str(os.getuid())
    return os.environ.get("SUDO_USER") or user, socket.gethostname()
