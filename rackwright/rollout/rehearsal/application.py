"""An application in a rehearsal: it writes until it is ended, counts what was acknowledged, and never forgets."""

import threading
import time
from abc import ABC, abstractmethod

from rackwright.errors import Refusal

END_S = 120.0


class Application(ABC):
    """At work from when it is made; `told` are numbers that were acknowledged, `at` when, by the monotonic clock."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.told: list[int] = []
        self.at: list[float] = []
        self.refused_s = 0.0  # the longest time in which it was refused
        self._was_refused = False
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Let it write no more; Refusal where it does not end."""
        self._ends.set()
        self._thread.join(END_S)
        if self._thread.is_alive():
            raise Refusal(f"The writer of {self.title} does not end.", "See what its server waits for.")

    @abstractmethod
    def _write(self) -> None:
        """Write until it ends; of each try `_acknowledged` or `_refused` is told."""

    def _acknowledged(self, number: int) -> None:
        now = time.monotonic()
        if self._was_refused and self.at:
            self.refused_s = max(self.refused_s, now - self.at[-1])
        self.told.append(number)
        self.at.append(now)
        self._was_refused = False

    def _refused(self) -> None:
        self._was_refused = True
