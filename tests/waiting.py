"""Waiting for what must come, however loaded the machine is."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
PATIENCE_S = 300  # a machine under load takes its time


def until(look: Callable[[], Found], what: str = "it did not come", patience_s: float = PATIENCE_S) -> Found:
    """What is found, once something is; a failure that says what was waited for."""
    deadline = time.monotonic() + patience_s
    while not (found := look()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return found
