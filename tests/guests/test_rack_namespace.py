"""The namespace with the switch in it, without a guest: frames, questions, and how it ends."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import until

from rackwright.errors import Refusal
from rackwright.guests import needs
from rackwright.guests.cabling import cabling
from rackwright.guests.namespace import WHILE_OWNED, Namespace, demand
from rackwright.sandbox import processes
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
ASK_WHO_HAS = """
import socket, struct, sys
address, mac = socket.inet_aton("10.30.0.1"), bytes.fromhex("525400000001")
who = struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 1, mac, socket.inet_aton("10.30.0.11"), bytes(6), address)
with socket.create_connection(("127.0.0.1", 10001), timeout=60) as cable:
    frame = b"\\xff" * 6 + mac + b"\\x08\\x06" + who
    cable.sendall(struct.pack("!I", len(frame)) + frame)
    stream = cable.makefile("rb")
    while True:
        (length,) = struct.unpack("!I", stream.read(4))
        frame = stream.read(length)
        if frame[12:14] == b"\\x08\\x06" and frame[28:32] == address and frame[:6] == mac:
            print("it answers")
            break
"""
ASK_TIME = """
import socket, struct, time
asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asking.settimeout(60)
asking.connect(("10.30.0.2", 123))
asking.send(bytes([0x23]) + bytes(47))
said = asking.recv(100)
print(abs(struct.unpack("!Q", said[40:48])[0] / 2**32 - 2208988800 - time.time()) < 60)
"""
HOLD = """
import sys, time
from pathlib import Path
from rackwright.guests.cabling import cabling
from rackwright.guests.namespace import Namespace
from rackwright.site.site import Site
folder, site = Path(sys.argv[1]), Site.load("inventory/lab")
namespace = Namespace(folder, cabling(site, site.hosts))
namespace.start()
namespace.begin(["sleep", "3600"], folder / "log")
print("up", flush=True)
sys.stdin.read()
"""
LEAVE = """\
import subprocess, sys
begun = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
begun.stdout.readline()  # it knows whose child it is
print(begun.pid)
"""


@pytest.fixture(autouse=True)
def _able():
    try:
        needs.demand_to_boot()
        demand()
    except Refusal as refusal:
        pytest.skip(str(refusal))


@pytest.fixture
def namespace(tmp_path):
    site = Site.load(ROOT / "inventory" / "lab")
    made = Namespace(tmp_path, cabling(site, site.hosts))
    made.start()
    yield made
    processes.end(tmp_path)


def test_a_guests_frame_reaches_this_machine_and_is_answered(namespace):
    assert namespace.run([sys.executable, "-c", ASK_WHO_HAS]).stdout == "it answers\n"


def test_guests_are_told_the_time_at_the_sites_own_servers(namespace):
    assert namespace.run([sys.executable, "-c", ASK_TIME]).stdout == "True\n"


def test_it_has_no_way_out(namespace):
    routes = namespace.run([needs.path_of("ip"), "-4", "route"]).stdout
    assert "default" not in routes
    assert "10.30.0.0/24 dev tap-nodes" in routes


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_everything_in_it_ends_with_whoever_started_it(tmp_path, number):
    owner = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with owner:
        assert owner.stdout.readline() == b"up\n"
        until(lambda: len(processes.working_in(tmp_path)) == 2)
        owner.send_signal(number)
    until(lambda: not processes.working_in(tmp_path))


def test_what_begins_after_its_owner_is_gone_ends_at_once(tmp_path):
    """The kernel was not asked yet to end it with its owner, and will never be told."""
    told, began = tmp_path / "told", tmp_path / "began"
    late = [
        "sh",
        "-c",
        f"echo begun; until [ -e {told} ]; do sleep 0.05; done; exec sh -c '{WHILE_OWNED}' $PPID touch {began}",
    ]
    with subprocess.Popen([sys.executable, "-c", LEAVE, *late], stdout=subprocess.PIPE, text=True) as owner:
        begun = int(owner.stdout.readline())
    told.touch()
    until(lambda: not Path(f"/proc/{begun}").exists())
    assert not began.exists()


def test_where_a_namespace_may_not_be_made_the_reason_is_told(tmp_path, monkeypatch):
    forbidding = tmp_path / "unshare"
    forbidding.write_text("#!/bin/sh\necho unshare: unshare failed: Operation not permitted >&2\nexit 1\n")
    forbidding.chmod(0o755)
    monkeypatch.setattr("rackwright.guests.namespace.path_of", lambda _: str(forbidding))
    site = Site.load(ROOT / "inventory" / "lab")
    with pytest.raises(Refusal, match="may not make a network namespace"):
        demand()
    with pytest.raises(Refusal, match="may not make a network namespace"):
        Namespace(tmp_path, cabling(site, site.hosts)).start()
