"""The policies, judged by the real API server: it takes them, holds pods to them and writes down no body."""

import json
import socket
import subprocess
import time

import pytest
import yaml
from waiting import PATIENCE_S

from rackwright.metal.policies import admission, audit_policy

TOKEN = "a-token-of-this-test"
SECRET = "what-nobody-may-read"
PRIVILEGED = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "pod"},
    "spec": {"containers": [{"name": "pod", "image": "pod", "securityContext": {"privileged": True}}]},
}


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class ApiServer:
    """An etcd and an API server with the policies, and kubectl as an administrator."""

    def __init__(self, toolbox, folder):
        self.toolbox, self.folder = toolbox, folder
        self.port, store, peers = free_port(), free_port(), free_port()
        (folder / "admission.yaml").write_text(yaml.safe_dump(admission()))
        (folder / "audit.yaml").write_text(yaml.safe_dump(audit_policy()))
        (folder / "tokens.csv").write_text(f"{TOKEN},admin,admin,system:masters\n")
        subprocess.run(["openssl", "genrsa", "-out", folder / "key", "2048"], check=True, capture_output=True)
        here = "http://127.0.0.1"
        self.processes = [
            self.start(
                "etcd",
                *(f"--data-dir={folder}/etcd", f"--listen-client-urls={here}:{store}"),
                *(f"--advertise-client-urls={here}:{store}", f"--listen-peer-urls={here}:{peers}"),
                *(f"--initial-advertise-peer-urls={here}:{peers}", f"--initial-cluster=default={here}:{peers}"),
                "--unsafe-no-fsync",
            ),
            self.start(
                "kube-apiserver",
                *(f"--etcd-servers={here}:{store}", "--bind-address=127.0.0.1", f"--secure-port={self.port}"),
                *(f"--cert-dir={folder}/certificates", f"--token-auth-file={folder}/tokens.csv"),
                *(f"--service-account-key-file={folder}/key", f"--service-account-signing-key-file={folder}/key"),
                *("--service-account-issuer=https://test", "--service-cluster-ip-range=10.43.0.0/16"),
                *(f"--admission-control-config-file={folder}/admission.yaml", "--authorization-mode=RBAC"),
                *(f"--audit-policy-file={folder}/audit.yaml", f"--audit-log-path={folder}/audit.log"),
                *("--disable-admission-plugins=ServiceAccount", "--allow-privileged"),  # nothing makes accounts here
            ),
        ]

    def start(self, name, *arguments):
        log = (self.folder / f"{name}.log").open("w")
        return subprocess.Popen([self.toolbox[name].path, *arguments], stdout=log, stderr=log)

    def kubectl(self, *arguments, given=None):
        address = ("--server", f"https://127.0.0.1:{self.port}", "--token", TOKEN, "--insecure-skip-tls-verify")
        command = [self.toolbox["kubectl"].path, *address, "--request-timeout=30s", *arguments]
        text = json.dumps(given) if given else None
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False)

    def wait(self):
        last = time.monotonic() + 300
        while self.kubectl("get", "--raw", "/readyz").returncode:
            died = [each.args[0] for each in self.processes if each.poll() is not None]
            assert not died, (self.folder / "kube-apiserver.log").read_text()[-3000:]
            assert time.monotonic() < last, (self.folder / "kube-apiserver.log").read_text()[-3000:]
            time.sleep(0.5)

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def api(toolbox, tmp_path_factory):
    server = ApiServer(toolbox, tmp_path_factory.mktemp("api"))
    try:
        server.wait()
        yield server
    finally:
        server.end()


def test_a_namespace_that_says_nothing_holds_its_pods_to_restricted(api):
    assert api.kubectl("create", "namespace", "silent").returncode == 0
    refused = api.kubectl("create", "--namespace=silent", "--filename=-", given=PRIVILEGED)
    assert refused.returncode == 1
    assert 'violates PodSecurity "restricted:latest"' in refused.stderr


@pytest.mark.parametrize("namespace", ["kube-system", "labelled"])
def test_the_clusters_own_and_a_labelled_one_may_have_privileged_pods(api, namespace):
    if namespace == "labelled":
        assert api.kubectl("create", "namespace", namespace).returncode == 0
        label = "pod-security.kubernetes.io/enforce=privileged"
        assert api.kubectl("label", "namespace", namespace, label).returncode == 0
    made = api.kubectl("create", f"--namespace={namespace}", "--filename=-", given=PRIVILEGED)
    assert made.returncode == 0, made.stderr


def test_who_made_a_secret_is_written_down_and_not_what_is_in_it(api):
    assert api.kubectl("create", "secret", "generic", "hush", f"--from-literal=key={SECRET}").returncode == 0
    log = (api.folder / "audit.log").read_text()
    events = [json.loads(line) for line in log.splitlines()]
    found = [each for each in events if each.get("objectRef", {}).get("name") == "hush" and each["verb"] == "create"]
    assert [each["user"]["username"] for each in found] == ["admin"]
    assert SECRET not in log
    assert not any(each["requestURI"].startswith(("/readyz", "/livez")) for each in events)
    assert not any(each.get("objectRef", {}).get("resource") in {"events", "leases"} for each in events)
