"""The folder of a release: the program as one file, and what it hashes to beside it."""

import hashlib
import zipfile
from io import BytesIO
from pathlib import Path

PROGRAM = Path(__file__).parent / "program"
PACKAGE = "rackwright/guests/stand_ins/k3s/program"
START = "import sys\nfrom rackwright.guests.stand_ins.k3s.program.main import main\nsys.exit(main(sys.argv[1:]))\n"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same source makes the same file


def release(folder: Path, version: str) -> Path:
    """Make the folder that `k3s_source` may name, for one version; returns the program in it."""
    program = folder / "k3s"
    program.write_bytes(b"#!/usr/bin/env python3\n" + _archive(version))
    program.chmod(0o755)
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    (folder / "sha256sum-amd64.txt").write_text(f"{digest}  k3s\n", encoding="utf-8")
    return program


def _archive(version: str) -> bytes:
    """The package with empty ones around it, since nothing else of ours is in a guest."""
    parts = PACKAGE.split("/")
    files = {f"{'/'.join(parts[: depth + 1])}/__init__.py": "" for depth in range(len(parts))}
    files |= {f"{PACKAGE}/{each.name}": each.read_text(encoding="utf-8") for each in sorted(PROGRAM.glob("*.py"))}
    files |= {f"{PACKAGE}/flags.json": (PROGRAM / "flags.json").read_text(encoding="utf-8")}
    files |= {f"{PACKAGE}/version": f"{version}\n", "__main__.py": START}
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), text)
    return packed.getvalue()
