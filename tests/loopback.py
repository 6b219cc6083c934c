"""A door on loopback: its name, its certificate and a port that is free."""

import ipaddress
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from rackwright.secrets.authority import Authority

HOST = "llm.example.internal"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def certify(folder: Path, authority: Authority | None = None) -> None:
    """A pair for the door's name and for loopback, as cert-manager would put it there, and whom its clients trust.

    Without an authority of the vault's it signs for itself.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    names = [x509.DNSName(HOST), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    now = datetime.now(UTC)
    above = x509.load_pem_x509_certificate(authority.certificate.encode()) if authority else None
    signing = serialization.load_pem_private_key(authority.key.encode(), None) if authority else key
    assert isinstance(signing, ec.EllipticCurvePrivateKey)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(above.subject if above else name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=above is None, path_length=None if above else 0), critical=True)
        .sign(signing, hashes.SHA256())
    )
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "tls.key").write_bytes(key.private_bytes(*plain))
    own = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "tls.crt").write_bytes(own)
    (folder / "anchor.crt").write_bytes(authority.certificate.encode() if authority else own)
