"""Real servers in a folder of their own, which goes with whoever made it."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import until

from rackwright.errors import Refusal
from rackwright.sandbox.postgres import Server, home, major, programs

# It tells where its folder is, and waits to be killed.
HOLDS = """
import sys, time
from pathlib import Path
from rackwright.sandbox.postgres import Server, home, programs
with home() as place:
    server = Server(Path(sys.argv[1]), place, "one", {"shared_buffers": "1MB"})
    server.make()
    server.start()
    print(place, (server.data / "postmaster.pid").read_text().split()[0], flush=True)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def found():
    with home() as place:
        folder = programs(place)
        if folder is None:
            pytest.skip(f"NO POSTGRESQL {major()}: no server was started. RACKWRIGHT_POSTGRES names its bin folder")
        yield folder


def runs(pid):
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_folder_goes_with_its_servers(found):
    with home() as place:
        server = Server(found, place, "one", {"shared_buffers": "1MB"})
        server.make()
        server.start()
        pid = (server.data / "postmaster.pid").read_text().split()[0]
        assert server.sql("SELECT 1") == "1"
        server.stop()
        assert not server.is_up
        server.start()
        server.kill()
        assert not server.is_up
        server.start()
    assert not place.exists()
    until(lambda: not runs(pid))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_also_where_whoever_made_it_is_killed(found, number):
    process = subprocess.Popen([sys.executable, "-c", HOLDS, str(found)], stdout=subprocess.PIPE, text=True)
    place, pid = process.stdout.readline().split()
    process.send_signal(number)
    process.wait()
    until(lambda: not Path(place).exists(), "the folder stays", 60)
    until(lambda: not runs(pid), "the server stays", 60)


def test_a_program_that_fails_says_why(found, tmp_path):
    tmp_path.chmod(0o755)
    server = Server(found, tmp_path, "none", {})
    with pytest.raises(Refusal, match=r"pg_ctl of none says no: .*none"):
        server.start()


def test_programs_that_are_named_are_taken_and_others_of_another_release_are_not(found, tmp_path, monkeypatch):
    monkeypatch.setenv("RACKWRIGHT_POSTGRES", str(found))
    assert programs(tmp_path) == found
    old = tmp_path / "bin" / "postgres"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho postgres (PostgreSQL) 9.6.1\n")
    old.chmod(0o755)
    monkeypatch.setenv("RACKWRIGHT_POSTGRES", str(old.parent))
    monkeypatch.setattr(sys.modules["rackwright.sandbox.postgres.programs"], "_package", lambda: None)
    monkeypatch.setattr("shutil.which", lambda _: None)
    got = programs(tmp_path)
    assert got is None or got == Path(f"/usr/lib/postgresql/{major()}/bin")
