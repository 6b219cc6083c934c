"""A site of the samples in a folder of its own, with a vault or without."""

import shutil
from pathlib import Path

import pytest

from rackwright.secrets import Vault, throw_away
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _no_password_of_the_user(monkeypatch):
    monkeypatch.delenv("ANSIBLE_VAULT_PASSWORD_FILE", raising=False)


@pytest.fixture(scope="session")
def lab() -> Site:
    """The sample that has everything."""
    return Site.load(ROOT / "inventory" / "lab")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site's folder without a vault."""
    place = tmp_path / "lab"
    place.mkdir()
    shutil.copy(ROOT / "inventory" / "lab" / "site.yml", place)
    return place


@pytest.fixture
def vault(lab: Site, folder: Path) -> Vault:
    """The vault of that folder, complete."""
    return throw_away(lab, folder)
