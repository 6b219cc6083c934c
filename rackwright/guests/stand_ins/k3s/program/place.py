"""Where files are, and what every line of the stand-in begins with."""

import os
import sys
from pathlib import Path

ROOT = Path(os.environ.get("K3S_STAND_IN_ROOT", "/"))
WHO = "stand-in for k3s"


class Trouble(Exception):  # noqa: N818 - it is what a log line calls it
    """What the real program would end with."""


def at(path: str) -> Path:
    """A path of the machine, below the root that a test may give."""
    return ROOT / path.lstrip("/")


def say(line: str) -> None:
    """One line to the journal."""
    sys.stderr.write(f"{WHO}: {line}\n")
    sys.stderr.flush()


def write(path: str, text: str, mode: int = 0o600) -> Path:
    """Write a file as a whole, with the folders to it; nobody sees half of it, and no other mode."""
    target = at(path)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = target.with_name(f".{target.name}.new")
    new.write_text(text, encoding="utf-8")
    new.chmod(mode)
    new.replace(target)
    return target
