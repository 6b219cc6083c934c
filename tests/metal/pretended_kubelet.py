"""A kubelet for a machine without containers: static pods run as plain processes, and the node is real in its cluster.

    python pretended_kubelet.py NAME PROGRAMS.json

It answers for its health, bootstraps itself as a kubelet does (a request for a certificate, which the controller
manager approves and signs), registers its node, and starts what lies in the folder of static pods; a program that it
was not given is left out.
"""

import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

FOLDER = Path("/etc/kubernetes")
PLAIN = serialization.NoEncryption()


class Health(BaseHTTPRequestHandler):
    """kubeadm asks for it at port 10248."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        """Nothing is said of it."""


def main():
    name, programs = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    try:
        server = ThreadingHTTPServer(("127.0.0.1", 10248), Health)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    except OSError:
        say("another kubelet of this machine answers for its health")
    threading.Thread(target=keep_node, args=(name, programs["kubectl"]), daemon=True).start()
    running = {}
    while True:
        keep_pods(running, programs)
        time.sleep(0.3)


def keep_node(name, kubectl):
    """By itself, since its API may be one that the static pods bring."""
    registered = False
    while not registered:
        bootstrap(name, kubectl)
        registered = register(name, kubectl)
        time.sleep(0.3)


def keep_pods(running, programs):
    """Start what is new, start anew what is another or has ended, end what is gone."""
    manifests = {path: path.read_text() for path in sorted(FOLDER.glob("manifests/*.yaml"))}
    for path, (digest, process) in list(running.items()):
        text = manifests.get(path)
        if text is None or hashlib.sha256(text.encode()).hexdigest() != digest or process.poll() is not None:
            if process.poll() is not None:
                said = Path(f"/var/log/{path.stem}.log").read_text()
                say(f"{path.stem} ended with {process.returncode}: {said[-600:]}")
            process.terminate()
            process.wait()
            del running[path]
    for path, text in manifests.items():
        pod = yaml.safe_load(text)
        if path in running or not pod:
            continue
        (container,) = pod["spec"]["containers"]
        command = [*container.get("command", []), *container.get("args", [])]
        if command[0] not in programs:
            continue
        environment = os.environ | {each["name"]: each.get("value", "") for each in container.get("env", [])}
        log = Path(f"/var/log/{path.stem}.log").open("ab")  # noqa: SIM115 - the process writes it
        process = subprocess.Popen([programs[command[0]], *command[1:]], env=environment, stdout=log, stderr=log)
        running[path] = (hashlib.sha256(text.encode()).hexdigest(), process)
        say(f"started {path.stem}")


def bootstrap(name, kubectl):
    """From a token to a certificate, as a kubelet does where it has no file of its own."""
    begin, own = FOLDER / "bootstrap-kubelet.conf", FOLDER / "kubelet.conf"
    if own.exists() or not begin.exists():
        return
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:nodes"),
            x509.NameAttribute(NameOID.COMMON_NAME, f"system:node:{name}"),
        ]
    )
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    wish = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": f"node-{name}"},
        "spec": {
            "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "usages": ["digital signature", "client auth"],
            "request": base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode(),
        },
    }
    ask(kubectl, begin, "create", "-f", "-", text=json.dumps(wish))
    signed = ask(kubectl, begin, "get", "csr", f"node-{name}", "-o", "jsonpath={.status.certificate}").stdout
    if not signed:
        ask(kubectl, begin, "delete", "csr", f"node-{name}")
        return
    kind = serialization.PrivateFormat.PKCS8
    pem = key.private_bytes(serialization.Encoding.PEM, kind, PLAIN)
    document = yaml.safe_load(begin.read_text())
    user = {"client-certificate-data": signed, "client-key-data": base64.b64encode(pem).decode()}
    document["users"][0]["user"] = user
    own.write_text(yaml.safe_dump(document))


def register(name, kubectl):
    """The node's object, made with the node's own rights."""
    if not (FOLDER / "kubelet.conf").exists():
        return False
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}}
    made = ask(kubectl, FOLDER / "kubelet.conf", "create", "-f", "-", text=json.dumps(node))
    return made.returncode == 0 or "already exists" in made.stderr


def say(line):
    """Into the machine's log, which outlives it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def ask(kubectl, kubeconfig, *words, text=None):
    command = [kubectl, "--kubeconfig", str(kubeconfig), "--request-timeout=60s", *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    main()
