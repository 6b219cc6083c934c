"""A played world in a folder of the test's own."""

import pytest
from played_world import PlayedWorld, lab
from postgres_server import MAJOR, end, new_home, programs


@pytest.fixture(scope="module")
def postgres_programs():
    """PostgreSQL's programs, laid open once."""
    home = new_home()
    found = programs(home)
    if found is None:
        end([], home)
        pytest.skip(f"NO POSTGRESQL {MAJOR}: no cut-over was tried. RACKWRIGHT_POSTGRES names its bin folder")
    yield found
    end([], home)


@pytest.fixture
def world(tmp_path) -> PlayedWorld:
    return PlayedWorld(tmp_path, lab())


@pytest.fixture
def quick(monkeypatch):
    """A process that is killed leaves what it wrote to the system, so thousands of runs need no drive."""
    monkeypatch.setattr("os.fsync", lambda _: None)
