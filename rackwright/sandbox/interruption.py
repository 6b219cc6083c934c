"""Being ended from outside, without leaving anything behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Heard = Callable[[int, FrameType | None], Any]
Handler = Heard | int | signal.Handlers | None


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
def heard_once() -> Iterator[None]:
    """Let the first ending unwind the program, and no other cut that short: each who is left on the way clears up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before: dict[signal.Signals, Handler] = {}

    def heard(number: int, frame: FrameType | None) -> None:
        if came:
            return
        came.append(number)
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)
        else:
            _unwind(number, frame)

    with _replaced(heard, before):
        yield


@contextmanager
def postponed() -> Iterator[None]:
    """Hold endings back while something must be finished, such as the clearing that an ending asked for.

    The system gives a signal to any thread, so none is blocked: the main one, in which Python hears it, takes note.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    try:
        with _replaced(lambda number, _: came.append(number), {}):
            yield
    finally:
        if came:
            signal.raise_signal(came[0])


@contextmanager
def _replaced(heard: Heard, before: dict[signal.Signals, Handler]) -> Iterator[None]:
    """Another handler for each ending that is not ignored; `before` takes those that there were."""
    try:
        for number in ENDINGS:
            if (old := signal.getsignal(number)) not in (signal.SIG_IGN, None):
                before[number] = old
                signal.signal(number, heard)
        yield
    finally:
        for number, old in before.items():
            if signal.getsignal(number) is heard:  # else one of those that were called has decided otherwise
                signal.signal(number, old)


def _unwind(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
