"""The site's certificate authority: made once, and the same for both phases, so that clients trust one for good.

In the vault it is one line: its certificate and its key, both PEM, one after the other, in base64. An authority that
clients trust already can be written there as well.
"""

import base64
import binascii
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from rackwright.errors import Refusal

NAME = "certificate_authority"
YEARS = 10
CLOCKS_H = 24  # by which a client's clock may be behind ours when it first meets the authority
LONGEST_NAME = 64  # X.509 takes no longer one
BEGIN = "-----BEGIN "
FORM = "its certificate and its key in PEM, one after the other, in base64"


class Authority(NamedTuple):
    """Both in PEM."""

    certificate: str
    key: str


def make(site: str) -> str:
    """A new one of a site, as it stands in the vault."""
    from cryptography import x509  # noqa: PLC0415 - it takes a while, and few commands need it
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"Rackwright {site}"[:LONGEST_NAME])])
    now = datetime.now(UTC)
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "encipher_only"), False
    )
    signs = x509.KeyUsage(digital_signature=False, key_cert_sign=True, crl_sign=True, decipher_only=False, **usage)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=CLOCKS_H))
        .not_valid_after(now + timedelta(days=365 * YEARS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(signs, critical=True)
        .add_extension(identifier, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    text = certificate.public_bytes(pem) + key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    return base64.b64encode(text).decode()


def read(value: str) -> Authority:
    """What stands in the vault; Refusal where that is no authority."""
    if reason := fault(value):
        raise Refusal(f"{NAME} {reason}.", f"Write {FORM}.")
    return _divided(value)


def fault(value: str) -> str | None:
    """Why it is no authority that may sign, as the end of a sentence; nothing of the value is said."""
    from cryptography import x509  # noqa: PLC0415
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        found = _divided(value)
        key = load_pem_private_key(found.key.encode(), None)
        certificate = x509.load_pem_x509_certificate(found.certificate.encode())
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except x509.ExtensionNotFound:
        return "is no authority's: its certificate may not sign others"
    except (binascii.Error, ValueError, TypeError, UnsupportedAlgorithm):
        return f"is not {FORM}"
    if not constraints.ca:
        return "is no authority's: its certificate may not sign others"
    if certificate.public_key() != key.public_key():
        return "holds a certificate and a key that do not belong together"
    if certificate.not_valid_after_utc <= datetime.now(UTC):
        return f"ended on {certificate.not_valid_after_utc:%Y-%m-%d}"
    return None


def _divided(value: str) -> Authority:
    """ValueError where it is not one key and something else."""
    text = base64.b64decode(value, validate=True).decode()
    blocks = [f"{BEGIN}{block}" for block in text.split(BEGIN)[1:]]
    (key,) = [block for block in blocks if "PRIVATE KEY" in block.splitlines()[0]]
    return Authority("".join(block for block in blocks if block != key), key)
