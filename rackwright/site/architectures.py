"""The shape of a model: what decides its memory and how it may be split."""

import math
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field

from rackwright.site.nearest import nearest
from rackwright.site.settings import Settings
from rackwright.site.shown import shown

DATA = Path(__file__).parent / "data" / "architectures.yml"

Precision = Literal["bfloat16", "float16", "fp8", "int8", "int4", "mxfp4", "nvfp4"]
BITS_PER_PARAMETER: dict[Precision, float] = {
    "bfloat16": 16,
    "float16": 16,
    "fp8": 8,
    "int8": 8,
    "int4": 4.25,
    "mxfp4": 4.25,
    "nvfp4": 4.5,
}


class Architecture(Settings):
    """A transformer's shape, as its config.json states it."""

    layers: int = Field(ge=1, le=1000, description="Hidden layers.")
    hidden: int = Field(ge=1, description="Width of the residual stream.")
    attention_heads: int = Field(ge=1, description="Query heads.")
    kv_heads: int = Field(ge=1, description="Key and value heads.")
    head_dim: int = Field(ge=1, description="Width of a head.")
    vocabulary: int = Field(ge=1, description="Size of the vocabulary.")
    parameters: float = Field(gt=0, description="Parameters, in billions.")
    active_parameters: float | None = Field(
        default=None, gt=0, description="Of them used for one token, in billions (MoE)."
    )
    context_length: int = Field(ge=1, description="The longest context, in tokens.")
    sliding_window: int | None = Field(
        default=None, ge=1, description="Window of the layers that do not see everything."
    )
    sliding_layers: int = Field(default=0, ge=0, description="How many layers have that window.")
    native_precision: Precision = Field(
        default="bfloat16", description="The precision that the weights are published in."
    )
    weights_gib: float | None = Field(default=None, gt=0, description="Size of the published weights, in GiB.")

    def weights(self, precision: Precision) -> float:
        """Size of all weights in GiB; embedding and output stay in 16 bits whatever the precision."""
        if precision == self.native_precision and self.weights_gib is not None:
            return self.weights_gib
        embedding = 2 * self.vocabulary * self.hidden / 1e9
        inner = max(self.parameters - embedding, 0)
        return float(inner * BITS_PER_PARAMETER[precision] / 8 + (self.parameters - inner) * 2) * 1e9 / 2**30

    def kv_bytes_per_token(self, *, tensor_parallel: int = 1, pipeline_parallel: int = 1, kv_bits: int = 16) -> float:
        """Key and value bytes of one token on one GPU; heads are replicated, not divided, beyond kv_heads GPUs."""
        heads = math.ceil(self.kv_heads / tensor_parallel)
        full_layers = self.layers - self.sliding_layers
        return 2 * heads * self.head_dim * kv_bits / 8 * full_layers / pipeline_parallel


@cache
def architectures() -> dict[str, Architecture]:
    """All known shapes, by the base model's name on the hub."""
    raw: dict[str, Any] = yaml.load(DATA.read_bytes(), Loader=yaml.CSafeLoader)
    return {name: Architecture(**shape) for name, shape in raw.items()}


def architecture(name: str) -> Architecture:
    """One shape by its name; ValueError names the nearest known one."""
    known = architectures()
    if name not in known:
        raise ValueError(
            f"is {shown(name)}, a shape that is not known; {nearest(name, known)} (or state layers, heads and so on)"
        )
    return known[name]
