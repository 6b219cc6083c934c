"""Opening what must be a plain file: a link leads anywhere, and who opens a pipe waits for its other end."""

import errno
import os
import stat
from pathlib import Path

CURE = "Let it be a plain file of yours, in a folder that you may write to."


def opened(file: Path, flags: int) -> int:
    """Its descriptor; OSError says in a clause why there is none."""
    try:
        descriptor = os.open(file, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(error.errno, "it is a link") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no plain file")
    return descriptor
