"""From figures to places in a picture, and the round figures that an axis names."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Scale:
    """A range of figures laid over a range of picture units."""

    low: float
    high: float
    first: float
    last: float

    def at(self, value: float) -> float:
        """Where a figure lies, held to the picture's edges."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        return self.first + min(max(share, 0.0), 1.0) * (self.last - self.first)


def ticks(high: float, most: int = 6) -> list[float]:
    """Round figures from zero to just past a figure, no more of them than fit."""
    if high <= 0 or not math.isfinite(high):
        return [0.0, 1.0]
    raw = high / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))
    return [step * index for index in range(math.ceil(high / step - 1e-9) + 1)]


def spell(value: float) -> str:
    """A figure of an axis."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def apart(wanted: Sequence[float], least: float) -> list[float]:
    """Places near the wanted ones, in their order, no two closer than the least distance."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    placed = list(wanted)
    for before, after in pairwise(order):
        placed[after] = max(placed[after], placed[before] + least)
    return placed
