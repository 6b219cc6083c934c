"""A recognisable value in every secret of a rehearsal: afterwards it is in the cluster's Secrets, and nowhere else."""

import base64
import json
import secrets
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from rehearsing import INVENTORY, ROOT, own_cache

from rackwright.sandbox import rehearsal
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.events import Events
from rackwright.sandbox.rehearsal import rehearse
from rackwright.sandbox.stack import Stack
from rackwright.secrets import authority, throw_away

CANARY = f"canary{secrets.token_hex(8)}"
LOOKED_FOR = [
    CANARY.encode(),
    # Whatever stands before it, one of these is in the base64 of a text that holds it.
    *(base64.b64encode(b"x" * shift + CANARY.encode())[4:-4] for shift in range(3)),
    CANARY.encode().hex().encode(),
]


def holds_it(text: str | bytes) -> bool:
    data = text.encode() if isinstance(text, str) else text
    return any(form in data for form in LOOKED_FOR)


@contextmanager
def watched_command_lines():
    """Every command line of any process that holds it, seen many times a second."""
    seen, done = set(), threading.Event()

    def watch():
        while not done.wait(0.02):
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit():
                    try:
                        line = (entry / "cmdline").read_bytes()
                    except OSError:
                        continue  # it has ended meanwhile
                    if holds_it(line):
                        seen.add(line)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield seen
    finally:
        done.set()
        watching.join()


@pytest.fixture
def planted(monkeypatch, tmp_path, toolbox):
    """A rehearsal whose vault holds it in every value, kept, with everything that it has said."""
    assert toolbox["pulumi"]
    said, stacks = [], []

    def plant(site, folder):
        vault = throw_away(site, folder)
        values = {name: f"{CANARY}-{secrets.token_hex(16)}" for name in vault.read()}
        signing = authority.read(authority.make("example"))
        text = f"{signing.certificate}{signing.key}{CANARY}\n"  # what stands behind a key in PEM is passed over
        vault.write(values | {authority.NAME: base64.b64encode(text.encode()).decode()})
        return vault

    class Kept(Stack):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, **more)
            stacks.append(self)

    class Heard(Events):
        def hear(self, line):
            said.append(line)
            return super().hear(line)

    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_cache(tmp_path)))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(rehearsal, "throw_away", plant)
    monkeypatch.setattr(rehearsal, "Stack", Kept)
    monkeypatch.setattr("rackwright.sandbox.stack.Events", Heard)
    with watched_command_lines() as command_lines:
        report = rehearse(INVENTORY / "example", keep=True, progress=said.append)
        try:
            yield report, stacks[0], said, command_lines
        finally:
            ControlPlane.end(report.kept["name"])


def objects(toolbox, report):
    kubectl = [toolbox["kubectl"].path, "--kubeconfig", report.kept["kubeconfig"], "--cache-dir=/dev/null/none"]
    kinds = subprocess.run(
        [*kubectl, "api-resources", "--verbs=list", "--output=name"], capture_output=True, text=True, check=True
    ).stdout.split()
    listed = [*kubectl, "get", ",".join(kinds), "--all-namespaces", "--output=json"]
    output = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    return json.loads(output)["items"]


def test_a_planted_secret_is_in_the_clusters_secrets_and_nowhere_else(planted, toolbox, tmp_path):
    report, stack, said, command_lines = planted
    assert report.succeeded

    # What was said: progress, the engine's own events, the report in both forms, what Pulumi shows afterwards.
    said += [report.text(), json.dumps(report.as_json())]
    for shown in (("stack", "export"), ("stack", "history"), ("stack", "output", "--json"), ("config",)):
        how = ("--config-file", str(stack.configuration)) if shown == ("config",) else ()
        said.append(stack._finish(*shown, "--stack", stack.name, *how, at=ROOT))
    said.append(stack._finish("preview", "--diff", *stack._how(), at=ROOT))
    assert len(said) > 100
    assert [line[:200] for line in said if holds_it(line)] == []
    assert command_lines == set()

    # What the cluster knows of it.
    found = objects(toolbox, report)
    assert {each["kind"] for each in found if holds_it(json.dumps(each))} == {"Secret"}
    ours = {each["metadata"]["name"] for each in found if holds_it(json.dumps(each))}
    assert {"gateway-configuration", "qdrant-keys", "grafana-admin", "postgres-mlflow", "rackwright-authority"} <= ours

    # What lies on the disk: state, history, checkpoints, logs, configuration, the vault itself; etcd is the cluster.
    plane = Path(report.kept["kubeconfig"]).parent
    files = [file for file in tmp_path.rglob("*") if file.is_file() and not file.is_symlink()]
    assert plane / "secrets" / "group_vars" / "all" / "secrets.yml" in files
    assert any("history" in file.parts for file in files)
    holding = [file for file in files if holds_it(file.read_bytes())]
    assert {file.relative_to(plane).parts[:4] for file in holding} == {("kwok", "clusters", "rehearsal", "etcd")}
