"""A machine with nothing on it, and a cluster whose operators are played."""

from pathlib import Path

import pytest
from kubernetes_objects import namespace, node, storage_class
from operator_kinds import OURS, SPACE, UPSTREAM, upstream_definitions

from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.tools import search


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty PATH, an empty cache and an empty home; the folder that PATH names."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PULUMI_HOME", raising=False)
    search.ask.cache_clear()
    return folder


@pytest.fixture(
    scope="session",
    params=[
        "ours",
        pytest.param(
            "upstream",
            marks=pytest.mark.skipif(not UPSTREAM, reason="RACKWRIGHT_UPSTREAM names no folder of upstream's"),
        ),
    ],
)
def cluster(request, toolbox):
    """A control plane for all tests of operators' Stages: its definitions must not meet those of other tests.

    They come after the Stages. Each test takes names of its own in it.
    """
    with ControlPlane(toolbox) as there:
        there.apply(OURS if request.param == "ours" else upstream_definitions())
        there.apply([namespace(SPACE, **{"pod-security.kubernetes.io/enforce": "restricted"}), node("operators-1")])
        there.apply([storage_class("nvme-database")])
        there.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=60s")
        yield there
