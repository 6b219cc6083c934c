"""Code that a guest keeps: what comes of it is what would have come, also where what was kept is broken."""

import sys
import zipimport
from importlib import import_module
from zipfile import ZipFile

import pytest

from rackwright.guests import kept_code


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """A module out of an archive, imported anew each time."""
    monkeypatch.setattr(zipimport, "_compile_source", zipimport._compile_source)
    monkeypatch.setattr(kept_code, "FOLDER", tmp_path / "kept")
    kept_code.install()

    def bring(text, number):
        archive = tmp_path / f"{number}.zip"
        with ZipFile(archive, "w") as packed:
            packed.writestr("sent.py", text)
        monkeypatch.syspath_prepend(archive)
        monkeypatch.delitem(sys.modules, "sent", raising=False)
        return import_module("sent")

    return bring


def files():
    return list(kept_code.FOLDER.iterdir())


def test_a_source_is_compiled_once(imported, monkeypatch):
    assert imported("value = 1", 1).value == 1
    (file,) = files()
    monkeypatch.setattr(kept_code, "compile_source", None)
    assert imported("value = 1", 2).value == 1
    assert files() == [file]


def test_another_source_is_another_code(imported):
    assert imported("value = 1", 1).value == 1
    assert imported("value = 2", 2).value == 2


@pytest.mark.parametrize("broken", [b"", b"junk", b"N"])
def test_what_is_broken_is_compiled_anew(imported, broken):
    imported("value = 1", 1)
    (file,) = files()
    file.write_bytes(broken)
    assert imported("value = 1", 2).value == 1
    assert file.read_bytes() != broken


def test_without_room_it_works(imported, tmp_path):
    (tmp_path / "kept").write_text("no folder")
    assert imported("value = 1", 1).value == 1
