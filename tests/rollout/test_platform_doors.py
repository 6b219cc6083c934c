"""Doors as clients meet them: real TLS on loopback, by certificates of the vault's authority and of others."""

import http.server
import ssl
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from loopback import HOST, certify

from rackwright.errors import Refusal
from rackwright.rollout.platform.doors import Certificates, Door, Keys, Name
from rackwright.rollout.platform.untouched import NoFaults, Untouched
from rackwright.rollout.world import State
from rackwright.secrets.authority import make, read

KEYS = {"chat": "a-key-of-chat", "batch": "a-key-of-batch"}


@pytest.fixture(scope="module")
def authority():
    return read(make("lab"))


@contextmanager
def opened(folder, authority, phase, keys=KEYS, status=200):
    """A door: who has one of its keys is answered, everybody else is refused; a stand-in for the proxy."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            key = self.headers.get("Authorization", "").removeprefix("Bearer ")
            self.send_response(status if key in keys.values() else 401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            """Silent."""

    folder.mkdir()
    certify(folder, authority)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Door(phase, "127.0.0.1", server.server_address[1], HOST)
        server.shutdown()


def test_certificates_of_the_authority_are_good_for_as_long_as_they_are(tmp_path, authority):
    with opened(tmp_path / "1", authority, 1) as first, opened(tmp_path / "2", authority, 2) as second:
        reading = Certificates((first, second), authority.certificate)()  # they are good for a day
        assert not reading.passed
        assert reading.seen == "phase 1's good for 1 days; phase 2's good for 1 days"
        before = Certificates((first, second), authority.certificate, clock=lambda: 0)()
        assert before.passed


def test_one_of_another_authority_is_told_by_its_phase(tmp_path, authority):
    with opened(tmp_path / "1", authority, 1) as first, opened(tmp_path / "2", read(make("x")), 2) as second:
        reading = Certificates((first, second), authority.certificate, clock=lambda: 0)()
        assert not reading.passed
        assert "phase 2's is not believed (" in reading.seen
        assert "phase 1's good for" in reading.seen
        elsewhere = Certificates((Door(1, "127.0.0.1", first.port, "another.name"),), authority.certificate)()
        assert "phase 1's is not believed (Hostname mismatch" in elsewhere.seen
    assert "phase 1's was not met" in Certificates((first,), authority.certificate)().seen


def test_keys_that_open_both_doors(tmp_path, authority):
    with opened(tmp_path / "1", authority, 1) as first, opened(tmp_path / "2", authority, 2, status=503) as second:
        assert Keys((first, second), authority.certificate, "llama", KEYS)().passed  # an engine may load yet
        strange = KEYS | {"new": "a-key-that-nobody-knows"}
        reading = Keys((first, second), authority.certificate, "llama", strange)()
        assert not reading.passed
        assert reading.seen == "phase 1's answers new with 401; phase 2's answers new with 401"
        assert "a-key" not in reading.seen + reading.wanted


def test_a_door_that_is_open_to_everybody_is_told(tmp_path, authority):
    with opened(tmp_path / "1", authority, 1, keys={"nobody": ""}) as first:
        reading = Keys((first,), authority.certificate, "llama", {})()
        assert (reading.passed, reading.seen) == (False, "phase 1's answers nobody with 200")


def test_the_name_is_changed_by_whoever_keeps_it_and_seen_here():
    leads = {"10.30.0.11"}
    doors = (Door(1, "10.30.0.11", 443, "llm.lab.internal"), Door(2, "10.30.0.6", 443, "llm.lab.internal"))
    name = Name(*doors, resolve=lambda _: frozenset(leads))
    assert name.look().state is State.ABSENT
    with pytest.raises(Refusal, match=r"leads to 10.30.0.11, and must lead to 10.30.0.6") as refusal:
        name.do()
    assert "phase 1's door sends on" in refusal.value.cure
    leads.add("10.30.0.6")
    assert name.look().state is State.TO_FINISH
    leads.discard("10.30.0.11")
    assert name.look().state is State.DONE
    with pytest.raises(Refusal, match=r"leads to 10.30.0.6, and must lead to 10.30.0.11"):
        name.undo()
    leads.clear()
    assert name.look().words == "llm.lab.internal leads to nowhere"


def counted(**numbers):
    """A stand-in for a Prometheus: faults now and in the hour before, of a hundred answers each."""

    def query(expression):
        if "5" not in expression.partition("class=")[2][:3]:
            return [{"value": [0, "100"]}]
        return [{"value": [0, str(numbers["before" if "offset" in expression else "now"])]}]

    return SimpleNamespace(query=query)


def test_phase_1_is_untouched_while_no_more_fails_than_before():
    assert Untouched(counted(now=1, before=1))().passed
    worse = Untouched(counted(now=2, before=1))()
    assert (worse.passed, worse.seen) == (False, "2.00% of answers fail, 1.00% did before")
    assert Untouched(SimpleNamespace(query=lambda _: []))().passed
    assert NoFaults(counted(now=0))().passed
    assert not NoFaults(counted(now=3))().passed
