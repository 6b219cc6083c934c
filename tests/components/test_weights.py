"""The programs that bring weights and look whether they are whole, run for real on small files."""

import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

from components.vllm import check_weights, hub_weights
from components.vllm.weights import HERE, containers
from rackwright.site.catalog import Image
from rackwright.site.models import Model
from rackwright.site.object_storage import ObjectStorage

RCLONE = os.environ.get("RACKWRIGHT_RCLONE") or shutil.which("rclone")


def safetensors(file: Path, size: int = 64, *, cut: int = 0) -> None:
    header = json.dumps(
        {"__metadata__": {"format": "pt"}, "w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}
    )
    content = struct.pack("<Q", len(header)) + header.encode() + bytes(size)
    file.write_bytes(content[: len(content) - cut])


def whole_model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    weights = {"a": "model-1.safetensors", "b": "model-2.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
    for name in weights.values():
        safetensors(folder / name)
    (folder / ".complete").touch()
    return folder


def check(*folders: Path) -> subprocess.CompletedProcess:
    """As the pod runs it."""
    script = (HERE / "check_weights.py").read_text()
    command = [sys.executable, "-c", script, *map(str, folders)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_whole_weights_pass(tmp_path):
    assert check(whole_model(tmp_path / "m")).returncode == 0


@pytest.mark.parametrize("cut", [1, 60, 100, 10_000])
def test_a_file_that_was_cut_off_is_refused_and_fetched_again(tmp_path, cut):
    folder = whole_model(tmp_path / "m")
    safetensors(folder / "model-2.safetensors", cut=min(cut, 150))
    done = check(folder)
    assert done.returncode == 1
    assert "model-2.safetensors has" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / ".complete").exists()


@pytest.mark.parametrize(("gone", "said"), [
    ("config.json", "has no config.json"),
    ("model-1.safetensors", "is named by the index and is not there"),
])  # fmt: skip
def test_a_file_that_is_missing_is_refused(tmp_path, gone, said):
    folder = whole_model(tmp_path / "m")
    (folder / gone).unlink()
    done = check(folder)
    assert done.returncode == 1
    assert said in done.stderr


def test_a_folder_that_is_missing_or_empty_is_refused(tmp_path):
    assert "is not there" in check(tmp_path / "none").stderr
    (tmp_path / "empty").mkdir()
    assert "no *.safetensors" in check(tmp_path / "empty").stderr


def test_a_header_that_is_not_json_is_refused(tmp_path):
    file = tmp_path / "x.safetensors"
    file.write_bytes(struct.pack("<Q", 4) + b"\xff\xff\xff\xff")
    assert check_weights.expected_size(file) == 0


def test_weights_that_are_brought_by_hand_are_waited_for(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "m"
    monkeypatch.setattr(check_weights.time, "sleep", lambda _: whole_model(folder))
    assert check_weights.main([folder], wait=True) == 0
    assert f"kubectl cp FOLDER NAMESPACE/POD:{folder} -c check" in capsys.readouterr().err


@pytest.fixture
def hub(monkeypatch):
    """The hub's library, as far as it is used."""
    calls: list[dict] = []

    def snapshot_download(repository, **arguments):
        calls.append({"repository": repository, **arguments})
        time.sleep(0.2)
        Path(arguments["local_dir"], "config.json").write_text("{}")

    module = types.ModuleType("huggingface_hub")
    module.snapshot_download = snapshot_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return calls


def test_a_revision_is_downloaded_once_however_many_replicas_start(tmp_path, hub):
    folder = tmp_path / "weights" / "abc"
    threads = [
        threading.Thread(target=hub_weights.bring, args=(tmp_path, "owner/model", "abc", folder)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (call,) = hub
    assert call["revision"] == "abc"
    assert "*.pth" in call["ignore_patterns"]
    assert (folder / ".complete").exists()


def test_a_download_that_broke_off_is_taken_up_again(tmp_path, hub):
    folder = tmp_path / "weights" / "abc"
    folder.mkdir(parents=True)
    (folder / "half").touch()
    hub_weights.bring(tmp_path, "owner/model", "abc", folder)
    assert len(hub) == 1
    assert (folder / "half").exists()  # the library itself goes on from there


@pytest.mark.usefixtures("hub")
def test_only_the_newest_older_revision_stays(tmp_path):
    for age, name in enumerate(("newest", "older", "oldest")):
        folder = tmp_path / "weights" / name
        folder.mkdir(parents=True)
        os.utime(folder, (10_000 - age, 10_000 - age))
    hub_weights.bring(tmp_path, "owner/model", "next", tmp_path / "weights" / "next")
    assert sorted(path.name for path in (tmp_path / "weights").iterdir()) == ["newest", "next"]


@pytest.fixture
def copy(tmp_path):
    if not RCLONE:
        pytest.skip("rclone is not on the PATH (nor named by RACKWRIGHT_RCLONE), so no copy was made")
    script = (HERE / "copy_weights.sh").read_text()
    path = f"{Path(RCLONE).parent}{os.pathsep}{os.environ['PATH']}"

    def run(source: str, folder: Path, **environment: str) -> subprocess.CompletedProcess:
        command = ["sh", "-c", script, "sh", str(tmp_path), source, str(folder)]
        variables = os.environ | {"PATH": path, "RCLONE_CONFIG": "/notfound", "HOME": str(tmp_path)} | environment
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)

    return run


def test_an_export_is_copied_once_and_compared(tmp_path, copy):
    source = whole_model(tmp_path / "source")
    folder = tmp_path / "weights" / "one"
    done = copy(str(source), folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "model-1.safetensors").read_bytes() == (source / "model-1.safetensors").read_bytes()
    (folder / "config.json").write_text("changed here")
    assert copy(str(source), folder).returncode == 0  # it is complete: not looked at again
    assert (folder / "config.json").read_text() == "changed here"


def test_a_copy_that_cannot_be_made_is_no_success(tmp_path, copy):
    done = copy(str(tmp_path / "none"), tmp_path / "weights" / "one")
    assert done.returncode != 0
    assert not (tmp_path / "weights" / "one" / ".complete").exists()


def test_of_older_copies_the_newest_stays(tmp_path, copy):
    source = whole_model(tmp_path / "source")
    for age, name in enumerate(("newest", "older", "oldest")):
        folder = tmp_path / "weights" / name
        folder.mkdir(parents=True)
        os.utime(folder, (10_000 - age, 10_000 - age))
    assert copy(str(source), tmp_path / "weights" / "next").returncode == 0
    assert sorted(path.name for path in (tmp_path / "weights").iterdir()) == ["newest", "next"]


def test_object_storage_is_read_with_keys_from_the_environment(tmp_path, copy):
    """A store that speaks S3 (rclone's own), asked with the very variables that the pod gets."""
    whole_model(tmp_path / "store" / "bucket" / "weights")
    (tmp_path / "store" / "bucket" / "weights" / ".complete").unlink()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    serve = [RCLONE, "serve", "s3", str(tmp_path / "store"), "--addr", address, "--auth-key", "canary-a,canary-s"]
    server = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(address)
        variables = variables_of_the_pod(ObjectStorage(endpoint=f"http://{address}", bucket="bucket"))
        done = copy("site:bucket/weights", tmp_path / "weights" / "s3", **variables)
        assert done.returncode == 0, done.stderr
        assert check(tmp_path / "weights" / "s3").returncode == 0
        wrong_key = variables | {"RCLONE_CONFIG_SITE_ACCESS_KEY_ID": "x"}
        wrong = copy("site:bucket/weights", tmp_path / "weights" / "no", **wrong_key)
        assert wrong.returncode != 0
        assert "canary" not in wrong.stderr + done.stderr
    finally:
        server.terminate()
        server.wait()


def variables_of_the_pod(store: ObjectStorage) -> dict[str, str]:
    image = Image(repository="rclone", tag="x")
    model = Model.model_validate(
        {"name": "m", "source": {"s3": "weights"}, "architecture": "Qwen/Qwen3-32B", "precision": "bfloat16",
         "context_length": 8192}
    )  # fmt: skip
    copying = containers(model, engine=image, rclone=image, object_storage=store)[0]
    given = {"access-key": "canary-a", "secret-key": "canary-s"}
    return {
        each["name"]: each.get("value") or given[each["valueFrom"]["secretKeyRef"]["key"]] for each in copying["env"]
    }


def wait_for(address: str) -> None:
    host, port = address.split(":")
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection((host, int(port))):
            return
        time.sleep(0.1)
    raise AssertionError("the store did not start")
