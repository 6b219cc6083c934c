"""How many model calls an action makes: a distribution with a heavy tail, never a mid-point."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Pattern = Literal["chat", "react", "planner", "tracelab"]


@dataclass(frozen=True)
class Calls:
    """Calls of one action by their quantiles; between two of them the logarithm is even."""

    points: tuple[tuple[float, float], ...]

    def quantile(self, share: float) -> float:
        """Calls that this share of actions stays below."""
        for (low, less), (high, more) in self._pieces():
            if share <= high:
                return float(less * (more / less) ** ((share - low) / (high - low)))
        return self.points[-1][1]

    @property
    def mean(self) -> float:
        """Calls of an action, on average."""
        return sum(
            (high - low) * (less if math.isclose(less, more) else (more - less) / math.log(more / less))
            for (low, less), (high, more) in self._pieces()
        )

    def draw(self, source: random.Random) -> int:
        """The calls of one action; their mean is the distribution's."""
        value = self.quantile(source.random())
        whole = int(value)
        return max(1, whole + (source.random() < value - whole))

    def scaled(self, mean: float) -> "Calls":
        """The same shape with another mean; no action has less than one call."""
        excess = self.mean - 1
        if mean <= 1 or excess <= 0:
            return CHAT
        factor = (mean - 1) / excess
        low, high = factor / 4, factor * 4
        for _ in range(60):
            factor = (low + high) / 2
            low, high = (factor, high) if self._stretched(factor).mean < mean else (low, factor)
        return self._stretched(factor)

    def _stretched(self, factor: float) -> "Calls":
        return Calls(tuple((share, 1 + (value - 1) * factor) for share, value in self.points))

    def _pieces(self) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
        return zip(self.points, self.points[1:], strict=False)


CHAT = Calls(((0.0, 1.0), (1.0, 1.0)))
# ReAct: 3 to 10 calls (P10 to P90). Planners: 10 to 50 and more. TraceLab (arXiv 2606.30560): calls of a request of a
# coding agent as measured, P25 1, P50 2, P90 21, P99 87; measured mean 8.7, that of these points 9.
PATTERNS: dict[Pattern, Calls] = {
    "chat": CHAT,
    "react": Calls(((0.0, 1.0), (0.1, 3.0), (0.5, 5.5), (0.9, 10.0), (0.99, 20.0), (1.0, 40.0))),
    "planner": Calls(((0.0, 5.0), (0.1, 10.0), (0.5, 22.0), (0.9, 50.0), (0.99, 120.0), (1.0, 240.0))),
    "tracelab": Calls(((0.0, 1.0), (0.25, 1.0), (0.5, 2.0), (0.9, 21.0), (0.99, 87.0), (1.0, 110.0))),
}
