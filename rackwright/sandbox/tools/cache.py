"""Where built programs are kept: one folder a family and pin, made whole under another name and then renamed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.sandbox import interruption, processes
from rackwright.sandbox.locks import Progress, held, silence
from rackwright.sandbox.tools.declaration import Family
from rackwright.user_path import user_path

MANIFEST = "manifest.json"
HALF_MADE = ".making-"


def cache_folder() -> Path:
    """Rackwright's folder in the user's cache."""
    configured = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(configured) if configured.startswith("/") else user_path("~/.cache")) / "rackwright"


def key(family: Family) -> str:
    """What the family's programs are made from, as a hash.

    The compiler's version is left out: go.mod says which is the oldest that will do, and a newer one on PATH tomorrow
    is no reason to build for twenty minutes again. The manifest says which one it was.
    """
    digest = hashlib.sha256()
    for file in sorted(path for path in family.folder.iterdir() if path.is_file()):
        digest.update(f"{file.name}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    digest.update(repr((family.packages, family.linker_flags(family.version), family.output)).encode())
    return digest.hexdigest()[:16]


def home(family: Family) -> Path:
    """The folder of the family's programs, whether or not it exists yet."""
    return cache_folder() / "tools" / f"{family.name}-{key(family)}"


def is_whole(folder: Path) -> bool:
    """Whether a folder was finished, and its files have not been cut since."""
    try:
        sizes = json.loads((folder / MANIFEST).read_text())["sizes"].items()
        return all((folder / "bin" / name).stat().st_size == size for name, size in sizes)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


@contextmanager
def made_once(folder: Path, what: str, progress: Progress = silence) -> Iterator[Path | None]:
    """Give the one maker of a folder a place to make it in, and everybody who comes later None.

    What a killed maker left, processes and files, is cleared first. The work is renamed into place when the block ends
    well, and removed when it does not.
    """
    work = folder.with_name(f"{HALF_MADE}{folder.name}-{os.getpid()}")
    lock = folder.with_name(f".{folder.name}.lock")
    with interruption.heeded(), held(lock, f"another process that makes {what}", progress):
        if is_whole(folder):
            yield None
            return
        clear(folder)
        try:
            (work / "bin").mkdir(parents=True)
            (work / "tmp").mkdir()
            yield work
            shutil.rmtree(work / "tmp")
            work.rename(folder)
        finally:
            with interruption.postponed():
                processes.end(work)
                shutil.rmtree(work, ignore_errors=True)


def seal(work: Path, about: dict[str, object]) -> None:
    """Write down what was made and how large it is, so that a later run can tell that it is whole."""
    sizes = {file.name: file.stat().st_size for file in sorted((work / "bin").iterdir())}
    (work / MANIFEST).write_text(json.dumps({**about, "sizes": sizes}, indent=2) + "\n")


def clear(folder: Path) -> None:
    """Remove a folder that is not whole, and what makers that were killed have left of it."""
    for left in folder.parent.glob(f"{HALF_MADE}{folder.name}-*"):
        processes.end(left)
        shutil.rmtree(left, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def need_room(folders: list[Path], gigabytes: float, what: str) -> None:
    """Refuse work that would fill a disk."""
    for folder in folders:
        existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
        free = shutil.disk_usage(existing).free / 1e9
        if free < gigabytes:
            raise Refusal(
                f"{what} needs {gigabytes:.1f} GB, and the disk of {folder} has {free:.1f} GB free.",
                "Free some space, or set XDG_CACHE_HOME to a folder on a larger disk.",
            )
