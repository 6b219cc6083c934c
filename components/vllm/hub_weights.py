"""Bring weights from the hub to a model's volume, once. Runs in the pod: standard library and what the engine has."""

import fcntl
import importlib
import json
import shutil
import sys
from pathlib import Path

DONE = ".complete"
# Copies of the same weights in other formats, which some repositories carry beside the one that is served.
UNWANTED = ["original/*", "*.pth", "*.gguf", "*.onnx", "*.h5", "*.msgpack", "*.tflite"]


def make_room(folder: Path) -> None:
    """Remove older revisions but the newest of them: the volume is sized for two."""
    siblings = [path for path in folder.parent.glob("*") if path.is_dir() and path != folder]
    newest_first = sorted(siblings, key=lambda path: path.stat().st_mtime, reverse=True)
    for path in newest_first[1:]:
        shutil.rmtree(path)


def bring(volume: Path, repository: str, revision: str, folder: Path) -> None:
    """Download a revision into its folder unless it lies there whole; replicas that start together take turns."""
    with (volume / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / DONE).exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        make_room(folder)
        hub = importlib.import_module("huggingface_hub")  # only the engine's image has it
        hub.snapshot_download(repository, revision=revision, local_dir=str(folder), ignore_patterns=UNWANTED)
        (folder / DONE).touch()


if __name__ == "__main__":
    for wanted in json.loads(sys.argv[2]):
        bring(Path(sys.argv[1]), wanted["repository"], wanted["revision"], Path(wanted["folder"]))
