"""Commands and files of this machine, as plain data; nothing here raises, since an answer that is missing is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

LARGEST = 400_000  # characters of one answer
FOLDERS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MISSING, SILENT = 127, 124  # as a shell and timeout(1) say it


def run(command: list[str], seconds: float = 15, pass_fds: tuple[int, ...] = ()) -> dict[str, Any]:
    """What a command says, in English: its exit code, output and error."""
    environment = {**os.environ, "LC_ALL": "C", "LANGUAGE": "C", "PATH": FOLDERS}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            env=environment,
            check=False,
            pass_fds=pass_fds,
        )
    except FileNotFoundError:
        return answer(MISSING, error=f"{command[0]} is not installed")
    except subprocess.TimeoutExpired:
        return answer(SILENT, error=f"{command[0]} gave no answer in {seconds:g} s")
    except OSError as error:
        return answer(MISSING, error=f"{command[0]} cannot be run ({error.strerror})")
    return answer(done.returncode, _plain(done.stdout), _plain(done.stderr)[:2000])


def answer(code: int, out: str = "", error: str = "") -> dict[str, Any]:
    """An answer in the form of a command's."""
    return {"code": code, "out": out, "error": error}


def text(path: str | Path) -> str | None:
    """A file's text; nothing where it is not there or may not be read."""
    try:
        with Path(path).open("rb") as file:
            return _plain(file.read(LARGEST))
    except OSError:
        return None


def word(path: str | Path) -> str:
    """The one word in a file of the kernel's; empty where there is none."""
    return (text(path) or "").strip()


def names(folder: str | Path) -> list[str]:
    """What lies in a folder; nothing where there is no such folder."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names are wanted, not paths
    except OSError:
        return []


def _plain(raw: bytes) -> str:
    return raw[:LARGEST].decode("utf-8", "replace").replace("\0", " ")
