"""The settings that the component writes, on a real server of the pinned major."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from components.postgres.parameters import parameters
from rackwright.site.catalog import Catalog
from rackwright.site.postgresql import Postgresql

MAJOR = Catalog.load().images["postgresql"].tag.split(".")[0]
NOBODY = 65534  # PostgreSQL refuses to run as root


def programs() -> Path | None:
    """The folder of a server of that major."""
    places = (os.environ.get("RACKWRIGHT_POSTGRES"), f"/usr/lib/postgresql/{MAJOR}/bin", shutil.which("postgres"))
    for place in places:
        if place:
            folder = Path(place) if Path(place).is_dir() else Path(place).parent
            if not (folder / "postgres").is_file():
                continue
            found = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False)
            if re.search(rf"\b{MAJOR}\.", found.stdout):
                return folder
    return None


@pytest.fixture(scope="module")
def database():
    folder = programs()
    if folder is None:
        pytest.skip(f"no PostgreSQL {MAJOR} is at hand (RACKWRIGHT_POSTGRES names its bin folder): settings not tried")
    home = Path(f"/tmp/rackwright-postgres-{os.getpid()}")
    home.mkdir()
    user = NOBODY if os.getuid() == 0 else os.getuid()
    os.chown(home, user, -1)
    try:
        command = [folder / "initdb", "-D", home / "data", "--locale-provider=builtin", "--builtin-locale=C.UTF-8",
                   "--locale=C.UTF-8", "--encoding=UTF8", "--data-checksums", "--no-sync"]  # fmt: skip
        subprocess.run(command, user=user, check=True, capture_output=True, cwd=home)
        yield folder, home, user
    finally:
        shutil.rmtree(home)


@pytest.mark.parametrize(("memory_gib", "cores", "connections", "wal_size_gb"), [
    (1, 1, 20, 1), (4, 4, 200, 20), (8, 64, 5000, 1000),
])  # fmt: skip
def test_a_real_server_takes_every_setting(database, memory_gib, cores, connections, wal_size_gb):
    folder, home, user = database
    wanted = parameters(
        Postgresql(size_gb=100, wal_size_gb=wal_size_gb, memory_gib=memory_gib, cores=cores, connections=connections)
    )
    library = "shared_preload_libraries=pg_stat_statements" if (folder.parent / "lib").exists() else None
    options = [f"{name}={value}" for name, value in wanted.items()] + ([library] if library else [])
    # It reads every setting, allocates what it must, and says what it understood; a wrong one ends it.
    command = [folder / "postgres", "--single", "-D", home / "data", *(f"-c{option}" for option in options), "postgres"]
    asked = "SELECT name, setting FROM pg_settings WHERE source = 'command line'\n"
    done = subprocess.run(command, input=asked, user=user, cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not re.search(r"FATAL|ERROR|invalid", done.stderr), done.stderr
    understood = set(re.findall(r'name = "([^"]+)"', done.stdout))
    assert {name for name in wanted if not name.startswith("pg_stat_statements.")} <= understood
