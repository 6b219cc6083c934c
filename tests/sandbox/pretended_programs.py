"""Programs that only look like the real ones."""

import shlex
from pathlib import Path


def pretend(folder: Path, name: str, says: str, code: int = 0) -> Path:
    """A program that prints something and ends."""
    return script(folder, name, f"echo {shlex.quote(says)}\nexit {code}")


def script(folder: Path, name: str, body: str) -> Path:
    """A program with a body in sh."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file
