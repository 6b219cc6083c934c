"""Waiting for what must come, however loaded the machine is."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
PATIENCE_S = 300  # a machine under load takes its time


def until(look: Callable[[], Found], what: str = "it did not come", patience_s: float = PATIENCE_S) -> Found:
    """What is found, once something is; a failure that says what was waited for.

    At most half of the time goes into looking: programs that are started for it would keep back what they wait for.
    """
    began = time.monotonic()
    deadline = began + patience_s
    while not (found := look()):
        now = time.monotonic()
        assert now < deadline, what
        time.sleep(max(0.05, now - began))
        began = time.monotonic()
    return found
