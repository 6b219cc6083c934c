"""The site's authority: made once, good for years, and refused where it cannot sign."""

import base64
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from rackwright.errors import Refusal
from rackwright.secrets import Secret, Vault, fill, unfit
from rackwright.secrets.authority import NAME, Authority, fault, make, read


def in_vault(*parts: str) -> str:
    return base64.b64encode("".join(parts).encode()).decode()


def given(secret: Secret) -> str:
    return secret.generate()


def nobody(_: Secret) -> None:
    return None


@pytest.fixture(scope="module")
def made() -> Authority:
    return read(make("lab"))


def test_it_may_sign_others_for_ten_years(made):
    found = x509.load_pem_x509_certificate(made.certificate.encode())
    assert found.subject.rfc4514_string() == "CN=Rackwright lab"
    assert found.public_key() == load_pem_private_key(made.key.encode(), None).public_key()
    assert found.extensions.get_extension_for_class(x509.BasicConstraints).critical
    assert found.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign
    assert found.not_valid_after_utc - datetime.now(UTC) > timedelta(days=3640)
    assert len(x509.load_pem_x509_certificate(read(make("x" * 80)).certificate.encode()).subject.rdns) == 1


def test_openssl_trusts_what_it_signs(made, tmp_path):
    for name, text in (("ca.crt", made.certificate), ("ca.key", made.key)):
        (tmp_path / name).write_text(text)

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=tmp_path, check=True, capture_output=True)

    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key", "-out", "asked",
            "-subj", "/CN=llm.lab.internal")  # fmt: skip
    openssl("x509", "-req", "-in", "asked", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-out", "leaf")
    openssl("verify", "-x509_strict", "-CAfile", "ca.crt", "leaf")


def test_one_that_clients_trust_already_is_taken_in_either_order(made):
    assert read(in_vault(made.key, made.certificate)) == made
    assert read(in_vault(made.certificate, made.key)) == made


def test_what_cannot_sign_is_refused_and_not_told(made, tmp_path):
    other = read(make("lab"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key",
         "-out", "leaf", "-subj", "/CN=leaf", "-addext", "basicConstraints=critical,CA:FALSE"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    leaf = in_vault((tmp_path / "leaf").read_text(), (tmp_path / "key").read_text())
    for value, why in (
        ("no-base64!", "is not its certificate and its key"),
        (in_vault(made.certificate), "is not its certificate and its key"),
        (in_vault(made.key), "is not its certificate and its key"),
        (in_vault(made.key, made.key), "is not its certificate and its key"),
        (in_vault(other.certificate, made.key), "do not belong together"),
        (leaf, "may not sign others"),
    ):
        assert why in (fault(value) or "")
        with pytest.raises(Refusal) as refusal:
            read(value)
        assert "BEGIN" not in str(refusal.value)


def test_one_that_has_ended_is_refused(monkeypatch):
    class Past(datetime):
        @classmethod
        def now(cls, tz=None):
            return super().now(tz) - timedelta(days=3651)

    monkeypatch.setattr("rackwright.secrets.authority.datetime", Past)
    old = make("lab")
    monkeypatch.undo()
    assert (fault(old) or "").startswith("ended on ")


def test_a_vault_gets_it_once_and_keeps_it(lab, tmp_path):
    vault = Vault(tmp_path / "group_vars" / "all" / "secrets.yml", tmp_path / ".vault-password")
    assert NAME in fill(lab, vault, given).generated
    first = vault.read()
    older = {name: value for name, value in first.items() if name != NAME}
    vault.write(older)
    assert [each.name for each in unfit(lab, vault.read(), tmp_path)] == [NAME]
    assert fill(lab, vault, nobody).generated == (NAME,)
    second = vault.read()
    assert second[NAME] != first[NAME]
    assert {name: value for name, value in second.items() if name != NAME} == older
    assert fill(lab, vault, nobody).generated == ()
    assert vault.read() == second


def test_a_vault_with_one_that_cannot_sign_is_told(lab, tmp_path):
    vault = Vault(tmp_path / "group_vars" / "all" / "secrets.yml", tmp_path / ".vault-password")
    fill(lab, vault, given)
    (told,) = [each for each in unfit(lab, vault.read() | {NAME: "x1y2z3w4" * 8}, tmp_path) if each.name == NAME]
    assert "is not its certificate and its key" in told.what
