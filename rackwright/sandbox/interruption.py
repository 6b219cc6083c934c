"""Being ended from outside, without leaving anything behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def heeded() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the program as Ctrl-C does, where nothing else has been decided for them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    replaced = {
        number: signal.signal(number, _unwind)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)


@contextmanager
def postponed() -> Iterator[None]:
    """Hold endings back while something must be finished, such as the clearing that an ending asked for."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _unwind(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
