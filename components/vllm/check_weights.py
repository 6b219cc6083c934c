"""Refuse weights that are not whole, before an engine loads them. Runs in the pod: standard library only."""

import json
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path

DONE = ".complete"
INDEX = "model.safetensors.index.json"
LOOK_AGAIN_S = 30


def faults(folder: Path) -> Iterator[str]:
    """What is wrong with a folder of weights, one sentence each."""
    if not folder.is_dir():
        yield f"{folder} is not there"
        return
    if not any((folder / name).is_file() for name in ("config.json", "params.json", "adapter_config.json")):
        yield f"{folder} has no config.json"
    index = folder / INDEX
    named = set(json.loads(index.read_text())["weight_map"].values()) if index.is_file() else set()
    yield from (
        f"{folder / name} is named by the index and is not there"
        for name in sorted(named)
        if not (folder / name).is_file()
    )
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        yield f"{folder} has no *.safetensors"
    for file in files:
        wanted, found = expected_size(file), file.stat().st_size
        if wanted != found:
            yield f"{file} has {found} bytes, its own header says {wanted}"


def expected_size(file: Path) -> int:
    """Bytes that a safetensors file must have, by its header; 0 where the header itself is cut off."""
    with file.open("rb") as stream:
        start = stream.read(8)
        if len(start) < 8:
            return 0
        (length,) = struct.unpack("<Q", start)
        try:
            header = json.loads(stream.read(length))
        except ValueError:
            return 0
    ends = (tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__")
    return 8 + int(length) + int(max(ends, default=0))


def whole(folders: list[Path]) -> bool:
    """Say every fault; what is not whole is fetched again at the next start."""
    found = {folder: list(faults(folder)) for folder in folders}
    for folder, sentences in found.items():
        if sentences:
            (folder / DONE).unlink(missing_ok=True)
            sys.stderr.write("".join(f"{sentence}\n" for sentence in sentences))
    return not any(found.values())


def main(folders: list[Path], *, wait: bool) -> int:
    """Look once, or until they are whole: weights that are brought by hand may be copied into this very container."""
    while not whole(folders):
        if not wait:
            return 1
        sys.stderr.write(f"waiting for them: kubectl cp FOLDER NAMESPACE/POD:{folders[0]} -c check\n")
        time.sleep(LOOK_AGAIN_S)
    return 0


if __name__ == "__main__":
    named = [argument for argument in sys.argv[1:] if argument != "--wait"]
    sys.exit(main([Path(name) for name in named], wait="--wait" in sys.argv))
