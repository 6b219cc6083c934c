"""Commands of this machine, in English."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

FOLDERS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Failed(Exception):  # noqa: N818 - it is an answer
    """A command did not do what it was started for."""


def run(*command: str) -> str:
    """What a command prints; Failed says what it was and what it said."""
    environment = {**os.environ, "LC_ALL": "C", "LANGUAGE": "C", "PATH": FOLDERS}
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, check=False
        )
    except OSError as error:
        raise Failed(f"{command[0]} cannot be run ({error.strerror})") from None
    if done.returncode:
        raise Failed(f"{' '.join(command)} failed ({done.returncode}): {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def table(*command: str) -> Any:
    """What a command prints as JSON; nothing at all is an empty table."""
    printed = run(*command)
    return json.loads(printed) if printed.strip() else {}
