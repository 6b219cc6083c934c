"""Files that only their owner may read, written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rackwright.errors import Refusal


def write(file: Path, data: bytes) -> None:
    """Replace a file (mode 0600) in one step that survives a power cut; Refusal where that cannot be done."""
    with refusing(file):
        target = file.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        try:
            _create(draft, data)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        _sync(target.parent)


def create(file: Path, data: bytes) -> None:
    """Write a file (mode 0600) that is not there yet; Refusal where it is."""
    with refusing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
        try:
            _create(draft, data)
            os.link(draft, file)
        finally:
            draft.unlink(missing_ok=True)
        _sync(file.parent)


@contextmanager
def refusing(file: Path) -> Iterator[None]:
    """Say what the system has against a file in one sentence."""
    try:
        yield
    except OSError as error:
        raise Refusal(
            f"{file} cannot be written ({error.strerror}).", "Mend that (space, owner, mode), then run it again."
        ) from None


def _create(file: Path, data: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
