"""What lies where a vault, its password or Ansible's settings should lie, and is none: told, never waited for."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rackwright.errors import Refusal
from rackwright.secrets import Vault, cipher, complete, fill, private_file, throw_away

PROGRAMS = Path(sys.executable).parent
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}


@pytest.mark.parametrize("which", ["file", "password_file"])
def test_a_pipe_is_refused_before_it_is_waited_for(vault, which):
    getattr(vault, which).unlink()
    os.mkfifo(getattr(vault, which))
    with pytest.raises(Refusal, match="no regular file"):
        vault.read()


def test_a_device_is_no_password(vault):
    vault.password_file.unlink()
    vault.password_file.symlink_to("/dev/zero")
    with pytest.raises(Refusal, match="no regular file"):
        vault.read()


def test_a_ring_of_links_is_a_vault_that_cannot_be_read(lab, vault):
    vault.file.unlink()
    vault.file.symlink_to(vault.file.name)
    for look in (vault.exists, vault.read, lambda: fill(lab, vault, lambda _: None)):
        with pytest.raises(Refusal, match=r"cannot be read \(Too many levels"):
            look()


def test_a_home_that_nobody_has_is_refused(folder, monkeypatch):
    monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", "~nobody-of-that-name/password")
    with pytest.raises(Refusal, match="a home folder that is not known"):
        Vault.of(folder)


@pytest.mark.usefixtures("vault")
@pytest.mark.parametrize("settings", ["[defaults\n", "[defaults]\nforks = many\n"])
def test_broken_settings_of_ansible_are_told(folder, tmp_path, settings):
    (tmp_path / "ansible.cfg").write_text(settings)
    command = [PROGRAMS / "rackwright", "secrets", "check", folder]
    result = subprocess.run(command, cwd=tmp_path, env=CLEAN, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "Ansible, which opens the vault, does not start: " in result.stderr


@pytest.mark.parametrize("name", ["two words", "it's", "$(id)"])
def test_a_vault_in_clear_is_cured_by_the_command_that_is_said(lab, folder, name):
    vault = throw_away(lab, folder.rename(folder.with_name(name)))
    vault.file.write_text(cipher.decrypt(vault.file, vault.file.read_bytes(), vault.password_file))
    with pytest.raises(Refusal) as caught:
        vault.read()
    command = re.search("ansible-vault encrypt .*(?= and replace)", caught.value.cure)[0]
    subprocess.run(["sh", "-c", command], check=True, env=CLEAN | {"PATH": f"{PROGRAMS}:/usr/bin:/bin"})
    complete(lab, vault.read(), vault.file.parents[2])


def test_a_password_is_not_left_where_the_vault_could_not_be_written(lab, folder, monkeypatch):
    def fail(file, _):
        raise Refusal(f"{file} cannot be written (No space left on device).", "Mend that.")

    monkeypatch.setattr(private_file, "write", fail)
    with pytest.raises(Refusal, match="No space left"):
        fill(lab, Vault.of(folder), lambda _: None)
    assert not (folder / ".vault-password").exists()
