"""A played world in a folder of the test's own."""

import pytest
from played_world import PlayedWorld, lab


@pytest.fixture
def world(tmp_path) -> PlayedWorld:
    return PlayedWorld(tmp_path, lab())


@pytest.fixture
def quick(monkeypatch):
    """A process that is killed leaves what it wrote to the system, so thousands of runs need no drive."""
    monkeypatch.setattr("os.fsync", lambda _: None)
