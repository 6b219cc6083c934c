"""Whatever ends a rehearsal, said in a sentence with its cure."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from rackwright.errors import Refusal
from rackwright.sandbox import interruption

DISK_IS_FULL = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def ended_well() -> Iterator[None]:
    """Turn an ending from outside and a full disk into a Refusal; all that was started has ended by then."""
    try:
        with interruption.heard_once():
            yield
    except (KeyboardInterrupt, SystemExit):
        raise Refusal(
            "The rehearsal was interrupted; everything that it had started has ended.", "Run the same command again."
        ) from None
    except OSError as error:
        if error.errno not in DISK_IS_FULL:
            raise
        raise Refusal(f"The disk of {error.filename or 'the cache folder'} is full.", "Free some space.") from None
