"""The three samples, and what upstream publishes where it is to be had."""

import os
from pathlib import Path

import pytest

from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ("example", "lab", "workstation")


@pytest.fixture(scope="module", params=SAMPLES)
def site(request) -> Site:
    return Site.load(ROOT / "inventory" / request.param)


@pytest.fixture(scope="session")
def example() -> Site:
    return Site.load(ROOT / "inventory" / "example")


@pytest.fixture(scope="session")
def lab() -> Site:
    return Site.load(ROOT / "inventory" / "lab")


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.load()


@pytest.fixture(scope="session")
def upstream() -> Path:
    folder = os.environ.get("RACKWRIGHT_UPSTREAM")
    if not folder:
        pytest.skip("RACKWRIGHT_UPSTREAM names no folder of upstream's, so what it publishes was not compared")
    return Path(folder)
