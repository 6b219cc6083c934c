"""The gateway's check against a real TLS server that behaves, and that misbehaves in every way it looks for."""

import datetime
import http.server
import json
import ssl
import threading
from ipaddress import IPv4Address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from rackwright.checks.findings import Outcome
from rackwright.checks.gateway import gateway_serves_tenants
from rackwright.checks.objects import Objects

KEY = "the-tenant's-key"


def certificate(folder, host):
    """A self-signed pair for a host, as PEM files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "tls.crt").write_bytes(made.public_bytes(pem))
    plain = serialization.NoEncryption()
    (folder / "tls.key").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return (folder / "tls.crt").read_text()


class Gateway(http.server.BaseHTTPRequestHandler):
    """Answers completions as a gateway should, but for what a test has it do wrong."""

    without_key, with_key, body = 401, 200, {"choices": [{"text": "yes"}]}

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == f"/{asked['model']}/v1/completions"
        known = self.headers.get("Authorization") == f"Bearer {KEY}"
        status = self.with_key if known else self.without_key
        body = json.dumps(self.body if status == 200 else {"error": "no"}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Secrets:
    """A cluster that holds the gateway's certificate."""

    def __init__(self, authority):
        self.authority = authority

    def secret(self, namespace, name, key):
        assert (namespace, name, key) == ("gateway", "gateway-tls", "ca.crt")
        return self.authority


def on_loopback(site, port):
    """The site, with its first server at 127.0.0.1, which is where phase 1's gateway answers."""
    first = site.hosts_in(1)[0]
    moved = first.model_copy(update={"address": IPv4Address("127.0.0.1")})
    hosts = tuple(moved if host == first else host for host in site.hosts)
    return site.model_copy(update={"hosts": hosts, "gateway": site.gateway.model_copy(update={"port": port})})


@pytest.fixture
def served(tmp_path, platform):
    """A function that serves with given behaviour and returns what the check finds."""
    host = platform.site.gateway.host
    authority = certificate(tmp_path, host)

    def look(keys=None, authority=authority, names=(host,), **behaviour):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Behaving", (Gateway,), behaviour))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        site = on_loopback(platform.site, server.server_address[1])
        made = {
            "kind": "Certificate",
            "metadata": {"name": "gateway", "namespace": "gateway"},
            "spec": {"dnsNames": list(names), "secretName": "gateway-tls"},
        }
        given = {site.tenants[0].key: KEY} if keys is None else keys
        try:
            return list(gateway_serves_tenants(Objects([made]), Secrets(authority), site, 1, given))
        finally:
            server.shutdown()
            server.server_close()

    return look


def test_a_gateway_that_serves_tenants_and_nobody_else_passes(served):
    assert {each.outcome for each in served()} == {Outcome.PASSED}


def test_a_gateway_that_answers_without_a_key_fails(served):
    faults = [each for each in served(without_key=200) if each.outcome is Outcome.FAILED]
    assert all("is answered with 200 instead of 401" in each.what for each in faults)
    assert len(faults) == 2


@pytest.mark.parametrize("behaviour", [{"with_key": 503}, {"with_key": 401}, {"body": {}}])
def test_a_gateway_that_does_not_serve_a_tenant_fails(served, behaviour):
    faults = [each for each in served(**behaviour) if each.outcome is Outcome.FAILED]
    assert len(faults) == 2
    assert all("no completion" in each.what for each in faults)
    assert KEY not in " ".join(each.what + each.cure for each in faults)


def test_a_certificate_of_another_authority_fails(served, tmp_path_factory, platform):
    other = certificate(tmp_path_factory.mktemp("other"), platform.site.gateway.host)
    assert {each.outcome for each in served(authority=other)} == {Outcome.FAILED}


def test_a_gateway_without_a_certificate_fails(served):
    (fault,) = served(names=("elsewhere.internal",))
    assert "has no certificate" in fault.what


def test_a_gateway_that_does_not_answer_fails(platform):
    site = on_loopback(platform.site, 9)
    certificates = platform.access.objects().all("Certificate")
    faults = list(gateway_serves_tenants(Objects(certificates), platform.access, site, 1, {}))
    assert any("did not answer at 127.0.0.1:9" in each.what for each in faults)


def test_without_a_tenants_key_only_the_refusal_is_looked_at(served):
    outcomes = [each.outcome for each in served(keys={})]
    assert outcomes.count(Outcome.PASSED) == 2
    assert outcomes.count(Outcome.NOT_SEEN) == 2


def test_a_rehearsal_says_that_it_did_not_ask(platform):
    (check,) = [each for each in platform.report.verdict.checks if each.name == "completion"]
    assert check.outcome is Outcome.NOT_SEEN
