"""Container images of one layer, and containerd's store with images in it, made where no container runs."""

import gzip
import io
import json
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from waiting import until

# What would look at this machine's network, devices or programs: only the store is wanted.
OFF = (
    "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri",
    "io.containerd.internal.v1.opt", "io.containerd.nri.v1.nri",
)  # fmt: skip
SEARCHED = "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Image:
    """A container image: files by their paths, over what lies in a folder."""

    reference: str
    files: Mapping[str, Path | str] = field(default_factory=dict)
    folder: Path | None = None
    entrypoint: Sequence[str] = ()


def write_image(image: Image, file: Path) -> None:
    """The image as docker keeps it in an archive."""
    layer = _layer(image)
    configuration = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": list(image.entrypoint), "Env": [SEARCHED]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(layer).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [image.reference], "Layers": ["layer.tar.gz"]}]
    members = {
        "config.json": json.dumps(configuration).encode(),
        "layer.tar.gz": gzip.compress(layer, compresslevel=1, mtime=0),  # it is copied once, and never sent
        "manifest.json": json.dumps(manifest).encode(),
    }
    with tarfile.open(file, "w") as archive:
        for name, content in members.items():
            _add(archive, name, content, 0o644)


def import_images(programs: Mapping[str, Path], archives: Sequence[Path], store: Path, work: Path) -> None:
    """Make a store that containerd finds its images in: natively, since unpacking them in a guest takes minutes."""
    configuration = work / "containerd.toml"
    configuration.write_text(f"version = 3\ndisabled_plugins = {json.dumps(OFF)}\n")
    socket = work / "containerd.sock"
    ask = [programs["ctr"], "--address", socket, "--namespace", "k8s.io"]
    serve = [programs["containerd"], "--config", configuration, "--root", store, "--state", work / "state"]
    with (
        (work / "containerd.log").open("wb") as log,
        subprocess.Popen([*serve, "--address", socket], stdout=log, stderr=log) as serving,
    ):
        try:
            until(lambda: not subprocess.run([*ask, "version"], capture_output=True, check=False).returncode)
            for archive in archives:
                done = subprocess.run([*ask, "images", "import", archive], capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stderr
        finally:
            serving.terminate()


def _layer(image: Image) -> bytes:
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        for path in sorted(image.folder.iterdir()) if image.folder else ():
            tar.add(path, path.name)
        for place, source in image.files.items():
            _add(tar, place, source.encode() if isinstance(source, str) else source.read_bytes(), 0o755)
    return layer.getvalue()


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), mode
    archive.addfile(member, io.BytesIO(content))
