"""How a control plane comes and goes, and that nothing of it stays."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from waiting import PATIENCE_S, until

from rackwright.errors import Refusal
from rackwright.sandbox import processes
from rackwright.sandbox.control_plane import ControlPlane, parent_folder
from rackwright.sandbox.tools import Found, Source, Toolbox

ALONE = """
    import json, sys
    from pathlib import Path
    from rackwright.sandbox import tools
    from rackwright.sandbox.control_plane import ControlPlane
    def found(name, path):
        return tools.Found(tools.TOOLS[name], Path(path), "", tools.Source.CACHE)

    box = tools.Toolbox({name: found(name, path) for name, path in json.loads(sys.argv[1]).items()})
    with ControlPlane(box, keep=len(sys.argv) > 2) as cluster:
        print(cluster.name, flush=True)
        sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch, toolbox):  # noqa: ARG001 - the tools are found before their cache is hidden
    """Folders of these tests only, so that no other rehearsal on this machine is seen or swept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def alone(toolbox: Toolbox, *arguments: str) -> tuple[subprocess.Popen, str]:
    """A control plane in a process of its own, which can be killed; the process and its name."""
    paths = json.dumps({name: str(found.path) for name, found in toolbox.items()})
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(ALONE), paths, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    return process, process.stdout.readline().strip()


def test_when_the_block_ends_everything_is_gone(toolbox):
    with ControlPlane(toolbox) as cluster:
        assert processes.working_in(cluster.folder)
    assert not processes.working_in(cluster.folder)
    assert list(parent_folder().glob("*")) == []


def test_an_exception_ends_it_too(toolbox):
    with pytest.raises(ZeroDivisionError), ControlPlane(toolbox) as cluster:
        raise ZeroDivisionError
    assert not processes.working_in(cluster.folder)
    assert list(parent_folder().glob("*")) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_ends_it_too(toolbox, number):
    process, name = alone(toolbox)
    assert processes.working_in(parent_folder() / name)
    os.kill(process.pid, number)
    process.communicate(timeout=60)
    assert not processes.working_in(parent_folder() / name)
    assert list(parent_folder().glob("*")) == []


def test_an_interruption_while_it_starts_ends_it_too(toolbox):
    paths = json.dumps({name: str(found.path) for name, found in toolbox.items()})
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(ALONE), paths], stderr=subprocess.DEVNULL)
    folders = until(
        lambda: [path for path in parent_folder().glob("*") if path.is_dir() and processes.working_in(path)]
    )
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE_S)
    assert not processes.working_in(folders[0])
    assert list(parent_folder().glob("*")) == []


def test_the_next_one_sweeps_what_a_killed_one_left_and_nothing_else(toolbox):
    living, living_name = alone(toolbox)
    killed, name = alone(toolbox)
    killed.kill()
    killed.wait()
    assert processes.working_in(parent_folder() / name), "its programs go on without their owner"
    said: list[str] = []
    with ControlPlane(toolbox, progress=said.append):
        assert not processes.working_in(parent_folder() / name)
        assert not (parent_folder() / name).exists()
        assert processes.working_in(parent_folder() / living_name)
    assert f"Cleared {name}, whose owner is gone." in said
    living.communicate(timeout=60)


def test_one_that_is_kept_goes_on_until_it_is_ended(toolbox):
    process, name = alone(toolbox, "keep")
    process.communicate(timeout=60)
    assert ControlPlane.kept() == [name]
    with ControlPlane(toolbox) as other:
        assert sorted(ControlPlane.kept()) == [name], other.name
    ControlPlane.end(name)
    assert ControlPlane.kept() == []
    assert list(parent_folder().glob("*")) == []


def test_ending_one_that_is_not_there_is_refused():
    with pytest.raises(Refusal, match="No control plane called nobody"):
        ControlPlane.end("nobody")


def test_one_that_was_kept_and_died_is_swept(toolbox):
    process, name = alone(toolbox, "keep")
    process.communicate(timeout=60)
    processes.end(parent_folder() / name)
    with ControlPlane(toolbox):
        assert not (parent_folder() / name).exists()


def test_a_port_in_use_is_refused_with_the_name_of_who_has_it(toolbox):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(Refusal) as refused, ControlPlane(toolbox, port=port):
            pass
    assert f"Port {port}" in refused.value.what
    assert f"by process {os.getpid()}" in refused.value.what
    assert list(parent_folder().glob("*")) == []


def test_a_program_that_cannot_start_is_said_at_once_and_leaves_nothing(toolbox, tmp_path):
    broken = tmp_path / "etcd"
    version = '[ "$1" = --version ] && echo "etcd Version: 3.6.16" && exit'
    broken.write_text(f"#!/bin/sh\n{version}\necho 'no space left on device' >&2\nexit 1\n")
    broken.chmod(0o755)
    box = Toolbox({**toolbox, "etcd": Found(toolbox["etcd"].tool, broken, "3.6.16", Source.PATH)})
    with pytest.raises(Refusal, match=r"disk of .* is full"), ControlPlane(box):
        pass
    assert list(parent_folder().glob("*")) == []


def test_what_a_program_said_last_is_told_and_the_logs_are_kept(toolbox, tmp_path):
    broken = tmp_path / "kwokctl"
    broken.write_text("#!/bin/sh\necho 'nobody knows why'\nexit 1\n")
    broken.chmod(0o755)
    box = Toolbox({**toolbox, "kwokctl": Found(toolbox["kwokctl"].tool, broken, "0.8.0", Source.PATH)})
    with pytest.raises(Refusal, match="nobody knows why") as refused, ControlPlane(box):
        pass
    folder = Path(refused.value.cure.rpartition(" in ")[2].rstrip("."))
    assert "nobody knows why" in (folder / "kwokctl.log").read_text()
    assert list(parent_folder().glob("*")) == []


def test_a_cache_that_is_no_folder_is_refused(toolbox, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(Refusal, match="cannot be written: not a directory") as refused, ControlPlane(toolbox):
        pass
    assert "XDG_CACHE_HOME" in refused.value.cure


def test_a_snapshot_brings_back_what_was(toolbox, tmp_path):
    def config_map(name):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}

    with ControlPlane(toolbox) as cluster:
        cluster.apply([config_map("before")])
        cluster.snapshot(tmp_path / "snapshot")
        cluster.apply([config_map("after")])
        cluster.kubectl.delete("configmap", "before", namespace="default")
        cluster.restore(tmp_path / "snapshot")
        names = {each["metadata"]["name"] for each in cluster.kubectl.get("configmaps", namespace="default")}
    assert "before" in names
    assert "after" not in names
