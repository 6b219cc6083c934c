"""The constants of the model of time: few, each with a meaning, a unit and a prior, fitted on published runs."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).parent / "data" / "constants.yml"


@dataclass(frozen=True)
class Constant:
    """One constant: what it means, its unit, and what is thought of it before any measurement."""

    name: str
    unit: str
    meaning: str
    prior: float
    spread: float


STEP_CONSTANTS = (
    Constant("weight_stream", "1", "time to read dense weights, by that at the memory's stated bandwidth", 1.08, 0.1),
    Constant("expert_stream", "1", "time to read experts, by that at the stated bandwidth", 1.3, 0.2),
    Constant("cache_stream", "1", "time to read keys and values, by that at the stated bandwidth", 1.3, 0.3),
    Constant("dense_compute", "1", "time of dense products, by that at the stated operations a second", 1.6, 0.6),
    Constant("expert_compute", "1", "time of experts' products, by that at the stated operations a second", 4.0, 2.0),
    Constant("attention_compute", "1", "time of a prompt's attention, by that at the stated operations", 3.0, 2.0),
    Constant("kernel", "us", "least time of one kernel inside a CUDA graph", 5.0, 1.0),
    Constant("transfer", "1", "time of sums over GPUs, by that at the link's stated bandwidth", 1.3, 0.5),
    Constant("activation", "1", "time to move activations through memory, by that at the stated bandwidth", 1.2, 0.4),
    Constant("sequence", "us", "time of one more sequence in one layer", 0.1, 0.2),
    Constant("launch", "us", "time by which a kernel is late in a step with prompts, outside a CUDA graph", 4.0, 6.0),
)
REQUEST_CONSTANTS = (
    Constant("request", "ms", "time of a request outside the engine's steps", 8.0, 8.0),
    Constant("token", "us", "time to tokenise one token of a prompt", 2.0, 2.0),
    Constant("waiting", "steps", "decode steps that pass before a request is scheduled", 1.0, 1.0),
)
CONSTANTS = STEP_CONSTANTS + REQUEST_CONSTANTS
MICROSECONDS = {"us": 1e-3}


@dataclass(frozen=True)
class Fitted:
    """Values in the order of CONSTANTS, each in its own unit."""

    values: tuple[float, ...]

    def __getitem__(self, name: str) -> float:
        return self.values[[each.name for each in CONSTANTS].index(name)]

    @property
    def step_weights(self) -> tuple[float, ...]:
        """What an amount of a step is multiplied with to give milliseconds."""
        pairs = zip(STEP_CONSTANTS, self.values, strict=False)
        return tuple(value * MICROSECONDS.get(each.unit, 1.0) for each, value in pairs)


@cache
def fitted() -> Fitted:
    """The constants as they were fitted last."""
    raw: dict[str, Any] = yaml.load(DATA.read_bytes(), Loader=yaml.CSafeLoader)
    return Fitted(tuple(float(raw["constants"][each.name]) for each in CONSTANTS))
