"""The lab, its rules, and Prometheus' own programs."""

import shutil
import subprocess
from pathlib import Path

import pytest

from rackwright.observe.baseline import Baseline, ModelBaseline
from rackwright.sandbox.tools import cache_folder
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def lab() -> Site:
    return Site.load(ROOT / "inventory" / "lab")


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.load()


@pytest.fixture(scope="session")
def measured() -> Baseline:
    """A baseline that gives every trigger its limit."""
    model = ModelBaseline(model="llama-70b", source="a test's figures", hit_rate=0.7, queue=20)
    return Baseline(models=(model,), storage={"gpu-01": 5e9})


def program(name: str) -> str | None:
    """On PATH, or out of Debian's package, which is fetched and laid open in the cache, not installed."""
    found = shutil.which(name)
    folder = cache_folder() / "debian-prometheus"
    if found or (folder / "usr/bin" / name).exists():
        return found or str(folder / "usr/bin" / name)
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", "-qq", "prometheus"], cwd=folder, capture_output=True, check=False)
    for package in folder.glob("prometheus_*.deb"):
        subprocess.run(["dpkg", "-x", package, folder], capture_output=True, check=True)
        package.unlink()
    return str(folder / "usr/bin" / name) if (folder / "usr/bin" / name).exists() else None


@pytest.fixture(scope="session")
def promtool() -> str:
    found = program("promtool")
    if found is None:
        pytest.skip(
            "NO PROMTOOL: rules were not tested. Install Prometheus (apt-get install prometheus), or apt-get update"
        )
    return found


@pytest.fixture(scope="session")
def prometheus() -> str:
    found = program("prometheus")
    if found is None:
        pytest.skip("NO PROMETHEUS: no query was run. Install it (apt-get install prometheus), or apt-get update")
    return found
