"""Folders that cannot be written, said in a sentence."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rackwright.errors import Refusal

FULL = {errno.ENOSPC, errno.EDQUOT}
FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST}


@contextmanager
def written(folder: Path) -> Iterator[None]:
    """Turn what the system says about a folder of ours in the cache into a Refusal."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise Refusal(
                f"The disk of {folder} is full.", "Free some space, or set XDG_CACHE_HOME elsewhere."
            ) from error
        if error.errno in FORBIDDEN:
            raise Refusal(
                f"{error.filename or folder} cannot be written: {(error.strerror or 'unknown reason').lower()}.",
                "Make it writable, or set XDG_CACHE_HOME to a folder in which you may write.",
            ) from error
        raise
