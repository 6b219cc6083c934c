"""Debian packages, and flat repositories of them, written without Debian's tools."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

EPOCH = 1_700_000_000  # one time for all files, so that one set of packages is one set of bytes
SUMMARY = "Stand-in by Rackwright for a rehearsal; it drives nothing"


@dataclass(frozen=True)
class File:
    """What lies at a path: bytes, or a link."""

    content: str | bytes = ""
    mode: int = 0o644
    link: str = ""


@dataclass(frozen=True)
class Deb:
    """A package: its relations by field, its files by absolute path, its scripts by name."""

    name: str
    version: str
    relations: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, File] = field(default_factory=dict)
    scripts: Mapping[str, str] = field(default_factory=dict)
    summary: str = SUMMARY

    @property
    def file_name(self) -> str:
        """Its file's name in a repository."""
        return f"{self.name}_{self.version.replace(':', '%3a')}_all.deb"

    @property
    def control(self) -> str:
        """Its control file."""
        fields = {
            "Package": self.name,
            "Version": self.version,
            "Architecture": "all",
            "Maintainer": "Rackwright <rehearsal@rackwright.invalid>",
            "Section": "misc",
            "Priority": "optional",
            **self.relations,
            "Description": self.summary,
        }
        return "".join(f"{name}: {value}\n" for name, value in fields.items())


def built(package: Deb) -> bytes:
    """The package's bytes."""
    control = {"./control": File(package.control)}
    control |= {f"./{name}": File(text, 0o755) for name, text in package.scripts.items()}
    data = {f".{path}": file for path, file in package.files.items()}
    members = (("debian-binary", b"2.0\n"), ("control.tar.gz", _tar(control)), ("data.tar.gz", _tar(data)))
    return b"!<arch>\n" + b"".join(_member(name, content) for name, content in members)


def write_repository(folder: Path, packages: Iterable[Deb], origin: str) -> None:
    """A flat repository, as NVIDIA's are: packages beside their index."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for package in packages:
        content = built(package)
        (folder / package.file_name).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        entries.append(f"{package.control}Filename: ./{package.file_name}\nSize: {len(content)}\nSHA256: {digest}\n")
    index = "\n".join(entries).encode()
    (folder / "Packages").write_bytes(index)
    digest = hashlib.sha256(index).hexdigest()
    (folder / "Release").write_text(
        f"Origin: {origin}\nLabel: {origin}\nSuite: stand-in\nArchitectures: all amd64\n"
        f"Description: Stand-ins for a rehearsal\nDate: Tue, 14 Nov 2023 22:13:20 UTC\n"
        f"SHA256:\n {digest} {len(index)} Packages\n"
    )


def _tar(files: Mapping[str, File]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for folder in _folders(files):
            info = tarfile.TarInfo(folder)
            info.type, info.mode, info.mtime = tarfile.DIRTYPE, 0o755, EPOCH
            archive.addfile(info)
        for path, file in files.items():
            info = tarfile.TarInfo(path)
            info.mtime = EPOCH
            if file.link:
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, file.link, 0o777
                archive.addfile(info)
                continue
            content = file.content.encode() if isinstance(file.content, str) else file.content
            info.size, info.mode = len(content), file.mode
            archive.addfile(info, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), compresslevel=1, mtime=EPOCH)  # unpacked once, in a slow guest


def _folders(files: Mapping[str, File]) -> list[str]:
    """Each folder on the way to a file, the outer before the inner."""
    return sorted({str(parent) for path in files for parent in Path(path).parents} - {"."})


def _member(name: str, content: bytes) -> bytes:
    header = f"{name:<16}{EPOCH:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
    return header + content + (b"\n" if len(content) % 2 else b"")
