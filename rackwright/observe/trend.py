"""Whether a figure grows beyond chance: the slope of a line through it, with its t-interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rackwright.observe.series import Value

LEAST = 8  # values, below which no slope is believed
# Student's t, two-sided 95 %, by degrees of freedom; a value holds up to the next.
T95 = ((6, 2.447), (8, 2.306), (10, 2.228), (15, 2.131), (20, 2.086), (30, 2.042), (60, 2.0), (120, 1.98))


@dataclass(frozen=True)
class Trend:
    """A line through values: its slope a step, the half-width of its 95 % interval, and where it begins and ends."""

    slope: float
    margin: float
    begins: float
    ends: float

    @property
    def rises(self) -> bool:
        """True where even the lower end of the interval rises."""
        return self.slope - self.margin > 0


def trend(values: Sequence[Value]) -> Trend | None:
    """The trend of what was seen; nothing where that is too little.

    Neighbouring values of a rate over five minutes repeat one another, so errors are widened by their lag-one
    correlation: the number of values counts as n (1 - r) / (1 + r).
    """
    seen = [(float(step), value) for step, value in enumerate(values) if value is not None]
    count = len(seen)
    if count < LEAST:
        return None
    middle = sum(step for step, _ in seen) / count
    mean = sum(value for _, value in seen) / count
    spread = sum((step - middle) ** 2 for step, _ in seen)
    slope = sum((step - middle) * (value - mean) for step, value in seen) / spread
    rests = [value - mean - slope * (step - middle) for step, value in seen]
    squares = sum(rest**2 for rest in rests)
    repeats = sum(a * b for a, b in pairwise(rests)) / squares if squares > 1e-30 else 0.0
    repeats = min(max(repeats, 0.0), 0.95)
    effective = max(count * (1 - repeats) / (1 + repeats), 3.0)
    error = math.sqrt(squares / max(effective - 2, 1.0) / (spread * effective / count))
    ends = mean + slope * (seen[-1][0] - middle)
    return Trend(slope, student(effective - 2) * error, mean + slope * (seen[0][0] - middle), ends)


def student(freedom: float) -> float:
    """Student's t for a 95 % interval, never less than the exact one."""
    if freedom < T95[0][0]:
        return {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571}[max(1, int(freedom))]
    return next(value for least, value in reversed(T95) if freedom >= least)
