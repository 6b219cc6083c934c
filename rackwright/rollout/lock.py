"""One operator at a time: who holds a rollout is written in its lock, and the system lets go of it with the process.

Programs that the holder starts hold it as well (`kept`): one that works on after the holder was killed is not joined.
"""

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.rollout.plain_file import CURE, opened
from rackwright.rollout.who import who

FILE_NAME = ".rollout.lock"
WORDS = 1024  # bytes: more than a holder ever writes
MOMENT_S = 2.0  # in which one who has just taken it writes down who it is
_HELD: list[int] = []


@contextmanager
def held(folder: Path) -> Iterator[str]:
    """Hold a site's rollout; yields who held it before and died, or nothing. Refusal tells who holds it now."""
    file = folder / FILE_NAME
    descriptor = _opened(file)
    try:
        if not _taken(descriptor, MOMENT_S / 4):  # whoever asks for the holder has it for a moment
            raise Refusal(
                f"{_told(descriptor) or 'Somebody'} carries this rollout out, or what it started still does.",
                "Wait until that has ended, or speak with whoever it is; nothing was changed.",
            )
        died = _told(descriptor, patience_s=0)
        _write(file, descriptor)
        _HELD.append(descriptor)
        try:
            yield died
        finally:
            _HELD.remove(descriptor)
            os.ftruncate(descriptor, 0)  # an end in order leaves no name behind, whatever its reason
    finally:
        os.close(descriptor)


def kept() -> tuple[int, ...]:
    """What a program must be given, so that the rollout is held until that has ended, too."""
    return tuple(_HELD)


def holder(folder: Path) -> str:
    """Who holds it now; nothing where nobody does."""
    try:
        descriptor = opened(folder / FILE_NAME, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return "" if _taken(descriptor, 0) else _told(descriptor)
    finally:
        os.close(descriptor)


def _opened(file: Path) -> int:
    try:
        return opened(file, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        if error.errno == errno.EACCES and (someone := holder(file.parent)):
            raise Refusal(f"{someone} carries this rollout out.", "Wait until that has ended.") from None
        raise Refusal(f"The lock {file} cannot be taken ({error.strerror}).", CURE) from None


def _taken(descriptor: int, patience_s: float) -> bool:
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        else:
            return True


def _told(descriptor: int, patience_s: float = MOMENT_S) -> str:
    """Who wrote it last, and since when; whoever has only just taken it is given a moment to write."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            words = json.loads(os.pread(descriptor, WORDS, 0) or b"{}")
            if words:
                return f"{words['user']} on {words['host']} (process {words['pid']}, since {words['since']})"
        except (ValueError, LookupError, TypeError):
            pass
        if time.monotonic() >= deadline:
            return ""
        time.sleep(0.02)


def _write(file: Path, descriptor: int) -> None:
    me = who()
    since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    words = json.dumps({"user": me.user, "host": me.host, "pid": me.pid, "since": since}).encode()
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, words, 0)
        os.fsync(descriptor)
    except OSError as error:
        raise Refusal(
            f"The lock {file} cannot be written ({error.strerror}).", "Mend that, then run it again."
        ) from None
