"""The stand-in for k3s: it takes what our sites tell k3s, and refuses what the real one refuses."""

import hashlib
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml
from waiting import PATIENCE_S

from rackwright.guests.stand_ins.k3s import release
from rackwright.guests.stand_ins.k3s.program.checks import SYSCTLS
from rackwright.guests.stand_ins.k3s.program.configuration import flags
from rackwright.metal import k3s
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

INVENTORY = Path(__file__).resolve().parents[2] / "inventory"
VERSION = Catalog.load().kubernetes.k3s
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="it makes its certificates by openssl")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return release(tmp_path_factory.mktemp("release"), VERSION)


class Machine:
    """A folder that the stand-in takes for the machine's root."""

    def __init__(self, root, program):
        self.root, self.program = root, program
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        for name, value in SYSCTLS.items():
            self.write(f"/proc/sys/{name}", f"{value}\n")
        self.write("/proc/net/route", "Iface\tDestination\nlan0\t00000000\n")
        self.write("/sys/class/net/lan0/mtu", "9000\n")
        self.write("/usr/bin/nvidia-container-runtime", "")
        self.write(k3s.TOKEN_FILE, "the-token\n")
        for file in (k3s.ADMISSION_FILE, k3s.AUDIT_FILE, k3s.NAMES_FILE):
            self.write(file, "kind: Policy\n")
        (root / k3s.LOGS.lstrip("/")).mkdir(parents=True)
        self.tell()

    def write(self, path, text):
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def read(self, path):
        return (self.root / path.lstrip("/")).read_text()

    def tell(self, site="workstation", **changed):
        found = Site.load(INVENTORY / site)
        host = found.hosts_in(1)[0]
        told = k3s.server(
            host,
            found.operating_system,
            found.clusters.phase1,
            found.networks,
            site=found.name,
            object_storage=found.object_storage,
        )
        told = {key: value for key, value in (told | changed).items() if value is not None}
        self.write("/etc/rancher/k3s/config.yaml", yaml.safe_dump(told, sort_keys=False, width=1000))

    def start(self, *arguments):
        environment = os.environ | {"K3S_STAND_IN_ROOT": str(self.root), "K3S_STAND_IN_PORT": str(self.port)}
        command = [sys.executable, str(self.program), *arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments):
        process = self.start(*arguments)
        out, error = process.communicate(timeout=120)
        return process.returncode, out, error

    def serve(self):
        self.server = self.start("server")
        line = self.server.stderr.readline()
        assert "up and running" in line, line + self.server.stderr.read()

    def stop(self):
        self.server.send_signal(signal.SIGTERM)
        assert self.server.wait(PATIENCE_S) == 0

    def restart(self):
        self.stop()
        self.serve()


@pytest.fixture
def machine(tmp_path, program):
    return Machine(tmp_path, program)


@pytest.fixture
def running(machine):
    machine.serve()
    yield machine
    machine.stop()


def test_it_says_what_it_is(machine):
    code, out, _ = machine.run("--version")
    assert (code, out.split()) == (0, ["k3s", "version", VERSION, "(stand-in", "for", "k3s)"])


def test_the_same_source_makes_the_same_release(program, tmp_path):
    again = release(tmp_path, VERSION)
    assert again.read_bytes() == program.read_bytes()
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    assert (tmp_path / "sha256sum-amd64.txt").read_text() == f"{digest}  k3s\n"


def test_it_takes_what_a_site_tells_and_its_node_is_ready(running):
    code, out, _ = running.run("kubectl", "get", "node", "ws-01", "--output=json")
    node = json.loads(out)
    assert code == 0
    assert node["status"]["nodeInfo"]["kubeletVersion"] == VERSION
    assert {"type": "InternalIP", "address": "192.168.40.20"} in node["status"]["addresses"]
    assert [each["status"] for each in node["status"]["conditions"]] == ["True"]
    assert running.run("kubectl", "get", "--raw", "/readyz")[1].startswith("ok")


def test_a_node_is_cordoned_and_marked_until_it_is_brought_back_whatever_restarts(running):
    def shown():
        node = json.loads(running.run("kubectl", "get", "node", "ws-01", "--output=json")[1])
        return node["spec"].get("unschedulable", False), node["metadata"]["annotations"].get("rackwright/drained-for")

    running.run("kubectl", "annotate", "node", "ws-01", "--overwrite", "rackwright/drained-for=driver-1")
    assert running.run("kubectl", "drain", "ws-01", "--ignore-daemonsets", "--timeout=10m")[0] == 0
    assert shown() == (True, "driver-1")
    running.restart()
    assert shown() == (True, "driver-1")
    running.run("kubectl", "uncordon", "ws-01")
    running.run("kubectl", "annotate", "node", "ws-01", "rackwright/drained-for-")
    assert shown() == (False, None)
    assert running.run("kubectl", "drain", "ws-09")[0] == 1


def test_it_leaves_what_others_look_for(running):
    assert re.fullmatch(r"K10[0-9a-f]{64}::server:the-token\n", running.read("/var/lib/rancher/k3s/server/token"))
    assert "server: https://127.0.0.1:6443" in running.read("/etc/rancher/k3s/k3s.yaml")
    containerd = running.read("/var/lib/rancher/k3s/agent/etc/containerd/config.toml")
    assert 'default_runtime_name = "nvidia"' in containerd
    assert ".runtimes.'nvidia']" in containerd
    assert "Enabled" in running.run("secrets-encrypt", "status")[1]


def test_its_api_wants_a_certificate(running):
    tls = running.root / "var/lib/rancher/k3s/server/tls"
    context = ssl.create_default_context(cafile=str(tls / "server-ca.crt"))
    address = f"https://127.0.0.1:{running.port}"
    assert urllib.request.urlopen(f"{address}/ping", context=context).read() == b"pong"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{address}/readyz", context=context)
    context.load_cert_chain(tls / "client-admin.crt", tls / "client-admin.key")
    assert urllib.request.urlopen(f"{address}/readyz", context=context).read().startswith(b"ok")


def test_snapshots_are_saved_and_listed(running):
    code, out, _ = running.run("etcd-snapshot", "save", "--name=before")
    assert code == 0
    name = out.split()[1]
    assert name.startswith("before-")
    assert name in running.run("etcd-snapshot", "ls")[1]


def test_a_node_joins_with_the_token_and_not_with_another(running, tmp_path_factory, program):
    other = Machine(tmp_path_factory.mktemp("agent"), program)
    told = {"server": f"https://127.0.0.1:{running.port}", "token-file": k3s.TOKEN_FILE, "node-name": "ws-02"}
    other.write("/etc/rancher/k3s/config.yaml", yaml.safe_dump(told | {"node-ip": "192.168.40.21"}))
    other.write(k3s.TOKEN_FILE, "another\n")
    code, _, error = other.run("agent")
    assert (code, "401" in error) == (1, True)
    other.write(k3s.TOKEN_FILE, "the-token\n")
    process = other.start("agent")
    assert "up and running" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_S) == 0
    names = {
        each["metadata"]["name"]
        for each in json.loads(running.run("kubectl", "get", "nodes", "-o", "json")[1])["items"]
    }
    assert names == {"ws-01", "ws-02"}


def test_without_a_server_kubectl_is_refused(machine):
    code, _, error = machine.run("kubectl", "get", "nodes")
    assert (code, "was refused" in error) == (1, True)


REFUSED = {
    "an unknown key": ({"bogus": "1"}, "flag provided but not defined: -bogus"),
    "a misspelt key": ({"cluster-inti": True}, "flag provided but not defined: -cluster-inti"),
    "a word for a switch": ({"cluster-init": "yes"}, "invalid boolean value"),
    "an unknown flag of the kubelet": ({"kubelet-arg": ["max-pod=9"]}, "kubelet failed: unknown flag: --max-pod"),
    "an unknown flag of the API server": ({"kube-apiserver-arg": ["audit=1"]}, "unknown flag: --audit"),
    "a port that is not there": ({"flannel-iface": "bond9"}, "unable to find interface bond9"),
    "no token": ({"token-file": None}, "no token was given"),
    "a token file that is not there": ({"token-file": "/etc/none"}, "open /etc/none"),
    "a resolver file that is not there": ({"resolv-conf": "/etc/none"}, "open /etc/none"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_real_one_does_not_take_is_refused(machine, name):
    changed, said = REFUSED[name]
    machine.tell(**changed)
    code, _, error = machine.run("server")
    assert (code, said in error) == (1, True), error


def test_a_kernel_that_is_set_otherwise_is_refused(machine):
    machine.write("/proc/sys/vm/overcommit_memory", "0\n")
    code, _, error = machine.run("server")
    assert (code, "vm/overcommit_memory, expected value: 1, actual value: 0" in error) == (1, True)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("usr/bin/nvidia-container-runtime", "default runtime nvidia was not found"),
        (k3s.ADMISSION_FILE.lstrip("/"), "open /etc/rancher/k3s/admission.yaml"),
        (k3s.AUDIT_FILE.lstrip("/"), "open /etc/rancher/k3s/audit-policy.yaml"),
    ],
)
def test_what_it_is_told_to_use_must_be_there(machine, path, said):
    (machine.root / path).unlink()
    code, _, error = machine.run("server")
    assert (code, said in error) == (1, True)


def test_a_machine_without_a_default_route_is_refused(machine):
    machine.write("/proc/net/route", "Iface\tDestination\nlan0\t0028A8C0\n")
    code, _, error = machine.run("server")
    assert (code, "no default routes found" in error) == (1, True)


def test_another_token_than_the_states_is_refused(machine):
    process = machine.start("server")
    assert "up and running" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    process.wait(PATIENCE_S)
    machine.write(k3s.TOKEN_FILE, "another\n")
    code, _, error = machine.run("server")
    assert (code, "encrypted with different token" in error) == (1, True)


@pytest.mark.parametrize("site", ["example", "lab", "workstation"])
def test_every_key_that_a_site_tells_is_one_of_k3ss(site):
    found = Site.load(INVENTORY / site)
    host, cluster = found.hosts_in(1)[0], found.clusters.phase1
    known = flags()
    server = k3s.server(
        host, found.operating_system, cluster, found.networks, site=found.name, object_storage=found.object_storage
    )
    assert set(server) <= set(known["server"])
    assert set(k3s.agent(host, found.operating_system, cluster, found.networks)) <= set(known["agent"])


@pytest.mark.parametrize("name", ["kube-apiserver", "kube-controller-manager"])
def test_flags_that_are_handed_on_are_the_pinned_programs(toolbox, name):
    told = subprocess.run([toolbox[name].path, "--help"], capture_output=True, text=True, check=True).stdout
    assert flags()[name] == sorted(set(re.findall(r"^\s+(?:-\w, )?--([a-z0-9-]+)", told, re.MULTILINE)))
