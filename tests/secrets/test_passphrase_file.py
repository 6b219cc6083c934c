"""Pulumi's passphrase lies in memory, in a folder that only its owner enters."""

import stat

import pytest

from rackwright.errors import Refusal
from rackwright.secrets import passphrase_file

VALUES = {"pulumi_passphrase": "g7Kp2wQz9Lm4Tx8Rv1"}


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


@pytest.mark.usefixtures("runtime")
def test_it_is_written_and_taken_back(folder):
    file = passphrase_file.write(folder, VALUES)
    assert file.read_text() == VALUES["pulumi_passphrase"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    passphrase_file.remove(folder)
    passphrase_file.remove(folder)
    assert not file.exists()


@pytest.mark.usefixtures("runtime")
def test_sites_of_one_name_in_two_checkouts_do_not_meet(tmp_path):
    files = {passphrase_file.write(tmp_path / checkout / "lab", VALUES) for checkout in ("one", "two")}
    assert len(files) == 2


def test_a_folder_that_others_enter_is_not_used(folder, runtime, tmp_path, monkeypatch):
    monkeypatch.setattr(passphrase_file, "SHARED_MEMORY", tmp_path / "shm")
    runtime.chmod(0o755)
    (tmp_path / "shm").mkdir()
    file = passphrase_file.write(folder, VALUES)
    assert file.is_relative_to(tmp_path / "shm")
    file.parent.chmod(0o777)
    with pytest.raises(Refusal, match="is not yours alone"):
        passphrase_file.write(folder, VALUES)


def test_a_link_that_somebody_laid_is_not_followed(folder, tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(passphrase_file, "SHARED_MEMORY", tmp_path)
    monkeypatch.setattr("os.getuid", lambda: 4242)
    (tmp_path / "rackwright-4242").symlink_to(tmp_path)
    with pytest.raises(Refusal, match="is not yours alone"):
        passphrase_file.write(folder, VALUES)


def test_no_memory_at_all(folder, tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(passphrase_file, "SHARED_MEMORY", tmp_path / "nowhere")
    with pytest.raises(Refusal, match="no folder in memory"):
        passphrase_file.write(folder, VALUES)


@pytest.mark.usefixtures("runtime")
def test_a_vault_without_it(folder):
    with pytest.raises(Refusal, match="has no pulumi_passphrase"):
        passphrase_file.write(folder, {})
