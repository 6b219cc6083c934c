"""What opens, what does not, and what is said of it: one sentence, one cure, no secret."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rackwright.errors import Refusal
from rackwright.secrets import Vault, VaultRefused, cipher, complete, open_vault, required

CANARY = "g7Kp2wQz9Lm4Tx8Rv1canary"


def refusal_of(vault: Vault) -> Refusal:
    with pytest.raises(Refusal) as caught:
        vault.read()
    assert CANARY not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


def encrypted(vault: Vault, text: str) -> None:
    vault.file.write_bytes(cipher.encrypt(text, vault.password_file))


def test_it_holds_what_was_written(lab, folder, vault):
    values = open_vault(folder)
    assert set(values) == {secret.name for secret in required(lab)}
    complete(lab, values, folder)
    assert stat.S_IMODE(vault.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(vault.password_file.stat().st_mode) == 0o600
    for value in values.values():
        assert value.encode() not in vault.file.read_bytes()


def test_a_site_file_names_its_folder(folder, vault):
    assert Vault.of(folder / "site.yml") == vault


def test_ansible_vault_opens_it(folder, vault):
    program = Path(sys.executable).with_name("ansible-vault")
    shown = subprocess.run(
        [program, "view", "--vault-password-file", vault.password_file, vault.file],
        capture_output=True, text=True, check=True, cwd=folder,
    )  # fmt: skip
    assert "# Encrypts the secrets in Pulumi's state.\npulumi_passphrase: " in shown.stdout


def test_no_vault(folder):
    refusal = refusal_of(Vault.of(folder))
    assert "no vault yet" in refusal.what
    assert refusal.cure == f"rackwright secrets init {folder} makes it."


def test_another_password(vault):
    vault.password_file.write_text("another-Password-48213\n")
    assert "does not open with the password of" in refusal_of(vault).what


@pytest.mark.parametrize("part", [0.99, 0.7, 0.3])
def test_a_vault_cut_short(vault, part):
    text = vault.file.read_bytes()
    vault.file.write_bytes(text[: int(len(text) * part) | 1])
    assert "is damaged" in refusal_of(vault).what


def test_a_vault_cut_at_every_place_never_opens(vault):
    text = vault.file.read_bytes()
    for length in range(0, len(text) - 1, 97):
        vault.file.write_bytes(text[:length])
        refusal_of(vault)


def test_a_flipped_byte(vault):
    text = bytearray(vault.file.read_bytes())
    text[-10] = ord("1") if text[-10] != ord("1") else ord("2")
    vault.file.write_bytes(text)
    assert "was changed" in refusal_of(vault).what or "is damaged" in refusal_of(vault).what


def test_an_empty_vault(vault):
    vault.file.write_text("\n")
    assert "is empty" in refusal_of(vault).what


def test_secrets_in_clear(vault):
    vault.file.write_text(f"tenant_chat_key: {CANARY}\n")
    refusal = refusal_of(vault)
    assert "lies there in clear" in refusal.what
    assert "ansible-vault encrypt" in refusal.cure


def test_ten_megabytes_of_junk(vault):
    vault.file.write_bytes(b"x" * 10 * 2**20)
    assert "larger than 1 MiB" in refusal_of(vault).what


def test_a_folder_in_its_place(vault):
    vault.file.unlink()
    vault.file.mkdir()
    assert "cannot be read" in refusal_of(vault).what


INSIDE = {
    f"a: [{CANARY}": "line 1 is not YAML",
    f"*{CANARY}": "not YAML",
    f"- {CANARY}": "it is not a list of `name: value`",
    "a: 12345": "the value of a is not a text",
    f"a: {{b: {CANARY}}}": "the value of a is not a text",
    f'a: "{CANARY}"\na: "{CANARY}"': "a stands twice",
    f"[{CANARY}]: x": "line 1 has no name",
    "\x00": "not YAML",
}


@pytest.mark.parametrize(("text", "what"), INSIDE.items())
def test_what_is_wrong_inside_is_told_without_what_stands_there(vault, text, what):
    encrypted(vault, text)
    refusal = refusal_of(vault)
    assert what in refusal.what
    assert "ansible-vault edit" in refusal.cure


def test_nothing_inside_lacks_everything(lab, folder, vault):
    encrypted(vault, "")
    with pytest.raises(VaultRefused) as caught:
        complete(lab, open_vault(folder), folder)
    assert len(caught.value.faults) == len(required(lab))


def test_every_unfit_name_is_told_at_once(lab, folder, vault):
    values = vault.read()
    values["grafana_admin_pasword"] = values.pop("grafana_admin_password")
    values["tenant_agents_key"] = values["tenant_chat_key"]
    values["qdrant_api_key"] = "changeme-changeme"
    values["leftover"] = CANARY
    values["ansible_become_password"] = CANARY
    with pytest.raises(VaultRefused) as caught:
        complete(lab, values, folder)
    faults = {fault.name: fault for fault in caught.value.faults}
    assert set(faults) == {
        "grafana_admin_password", "grafana_admin_pasword", "tenant_agents_key", "qdrant_api_key", "leftover",
    }  # fmt: skip
    assert "did you mean grafana_admin_password?" in faults["grafana_admin_pasword"].cure
    assert faults["tenant_agents_key"].what == "has the same value as tenant_chat_key"
    assert faults["qdrant_api_key"].what == "is a well-known value"
    assert CANARY not in str(caught.value)
    assert "changeme" not in str(caught.value)


class TestThePassword:
    def test_others_may_not_read_it(self, vault):
        vault.password_file.chmod(0o644)
        refusal = refusal_of(vault)
        assert "others may read it" in refusal.what
        assert refusal.cure == f"chmod 600 {vault.password_file}"

    def test_is_not_there(self, vault):
        vault.password_file.unlink()
        assert "no password for the vault" in refusal_of(vault).what

    def test_is_empty(self, vault):
        vault.password_file.write_text("\n")
        assert "gives no vault password" in refusal_of(vault).what

    def test_is_a_folder(self, vault):
        vault.password_file.unlink()
        vault.password_file.mkdir()
        refusal_of(vault)

    def test_may_come_from_a_script(self, vault, tmp_path, monkeypatch):
        password = vault.password_file.read_text().strip()
        script = tmp_path / "password"
        script.write_text(f"#!/bin/sh\necho {password}\n")
        script.chmod(0o755)
        monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", str(script))
        vault.password_file.unlink()
        assert open_vault(vault.file.parents[2])

    def test_may_come_from_a_client_script(self, vault, tmp_path, monkeypatch):
        password = vault.password_file.read_text().strip()
        script = tmp_path / "password-client"
        script.write_text(f'#!/bin/sh\n[ "$1" = --vault-id ] && echo {password}\n')
        script.chmod(0o700)
        monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", str(script))
        assert open_vault(vault.file.parents[2])

    @pytest.mark.parametrize("text", ["#!/bin/sh\nexit 3\n", "just the password\n"])
    def test_a_script_that_fails(self, vault, tmp_path, monkeypatch, text):
        script = tmp_path / "password"
        script.write_text(text)
        script.chmod(0o700)
        monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", str(script))
        assert (
            "is executable, but running it gave no vault password" in refusal_of(Vault.of(vault.file.parents[2])).what
        )

    def test_a_script_that_others_may_change(self, vault, tmp_path, monkeypatch):
        script = tmp_path / "password"
        script.write_text("#!/bin/sh\necho x\n")
        script.chmod(0o777)
        monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", str(script))
        assert "others may change" in refusal_of(Vault.of(vault.file.parents[2])).what

    def test_the_variable_goes_before_the_file_and_knows_home(self, vault, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", "~/elsewhere")
        assert Vault.of(vault.file.parents[2]).password_file == tmp_path / "elsewhere"


def test_importing_secrets_does_not_import_ansible():
    code = "import rackwright.secrets, sys; sys.exit('ansible' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, env=dict(os.environ)).returncode == 0
