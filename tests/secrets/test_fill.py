"""A vault is made once and only ever extended."""

import multiprocessing

import pytest

from rackwright.errors import Refusal
from rackwright.secrets import Secret, Vault, complete, fill, required

GIVEN = ("s3_access_key", "s3_secret_key")


def nothing(_: Secret) -> None:
    return None


def test_what_cannot_be_generated_stays_missing(lab, folder):
    filled = fill(lab, Vault.of(folder), nothing)
    assert filled.made_password
    assert [secret.name for secret in filled.missing] == list(GIVEN)
    assert set(Vault.of(folder).read()) == {secret.name for secret in required(lab)} - set(GIVEN)


def test_a_second_run_adds_what_is_given_and_keeps_the_rest(lab, folder):
    fill(lab, Vault.of(folder), nothing)
    before = Vault.of(folder).read()
    filled = fill(lab, Vault.of(folder), Secret.generate)
    after = Vault.of(folder).read()
    assert filled.given == GIVEN
    assert not filled.made_password
    assert {name: after[name] for name in before} == before
    complete(lab, after, folder)


def test_a_run_with_nothing_to_do_leaves_the_file_alone(lab, vault):
    before = vault.file.read_bytes()
    filled = fill(lab, vault, nothing)
    assert vault.file.read_bytes() == before
    assert not filled.generated + filled.given + filled.missing


def test_what_others_put_into_it_stays(lab, vault):
    vault.write({"ansible_become_password": "its-own-Value-4821"})
    fill(lab, vault, Secret.generate)
    assert vault.read()["ansible_become_password"] == "its-own-Value-4821"


def test_a_weak_value_that_is_given_writes_nothing(lab, folder):
    with pytest.raises(Refusal, match="s3_access_key is a well-known value"):
        fill(lab, Vault.of(folder), lambda _: "minioadmin")
    assert not Vault.of(folder).file.exists()


def test_a_weak_password_of_a_new_vault_is_refused(lab, folder):
    password = folder / ".vault-password"
    password.write_text("secret123\n")
    password.chmod(0o600)
    with pytest.raises(Refusal, match=r"The vault's password in .* has 9 characters"):
        fill(lab, Vault.of(folder), nothing)


def test_a_named_password_file_is_never_made(lab, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", str(tmp_path / "elsewhere"))
    with pytest.raises(Refusal, match="There is no password for the vault"):
        fill(lab, Vault.of(folder), nothing)
    assert not (tmp_path / "elsewhere").exists()
    assert not (folder / ".vault-password").exists()


def _fill(folder) -> None:
    from rackwright.site.site import Site  # noqa: PLC0415 - runs in a process of its own

    fill(Site.load(folder), Vault.of(folder), Secret.generate)


def test_two_at_once_make_one_vault(lab, folder):
    processes = [multiprocessing.get_context("spawn").Process(target=_fill, args=(folder,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    complete(lab, Vault.of(folder).read(), folder)
    assert sorted(path.name for path in Vault.of(folder).file.parent.iterdir()) == ["secrets.yml"]
