"""The shape of a model: what decides its memory, its time and how it may be split."""

import math
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field

from rackwright.site.known.tensors import weight_bytes
from rackwright.site.reading.nearest import nearest
from rackwright.site.reading.shown import shown
from rackwright.site.settings import Settings

DATA = Path(__file__).parent / "data" / "architectures.yml"

Precision = Literal["bfloat16", "float16", "fp8", "int8", "int4", "mxfp4", "nvfp4"]
STATE_BYTES = 4  # a recurrent state is kept in 32 bits, its convolution's window in 16
CONVOLUTION_BYTES = 2


class Experts(Settings):
    """The experts of a mixture; every layer that has them has the same."""

    count: int = Field(ge=2, le=4096, description="Routed experts of a layer.")
    per_token: int = Field(ge=1, le=4096, description="Of them used for one token.")
    intermediate: int = Field(ge=1, le=1_000_000, description="Width of one expert.")
    shared_intermediate: int = Field(
        default=0, ge=0, le=1_000_000, description="Width of what every token uses beside them."
    )
    layers: int = Field(ge=1, le=1000, description="Layers that have them; the others have a dense MLP.")


class Latent(Settings):
    """Multi-head latent attention: one compressed key and value for all heads."""

    kv_rank: int = Field(ge=1, le=1_000_000, description="kv_lora_rank of config.json.")
    rope_dim: int = Field(ge=1, le=1_000_000, description="qk_rope_head_dim.")
    nope_dim: int = Field(ge=1, le=1_000_000, description="qk_nope_head_dim.")
    value_dim: int = Field(ge=1, le=1_000_000, description="v_head_dim.")
    query_rank: int | None = Field(
        default=None, ge=1, le=1_000_000, description="q_lora_rank, where queries are compressed too."
    )


class Indexer(Settings):
    """Sparse attention: a small indexer picks the tokens that a query looks at."""

    heads: int = Field(ge=1, le=1_000_000, description="index_n_heads.")
    dim: int = Field(ge=1, le=1_000_000, description="index_head_dim.")
    tokens: int = Field(ge=1, le=100_000_000, description="index_topk: tokens that are looked at.")


class Recurrent(Settings):
    """Layers with a state of constant size in place of keys and values (Mamba, gated delta net)."""

    layers: int = Field(ge=1, le=1000, description="How many layers have it.")
    key_heads: int = Field(ge=1, le=1_000_000, description="Key heads; the groups of Mamba.")
    value_heads: int = Field(ge=1, le=1_000_000, description="Value heads; the heads of Mamba.")
    key_dim: int = Field(ge=1, le=1_000_000, description="Width of a key; the state size of Mamba.")
    value_dim: int = Field(ge=1, le=1_000_000, description="Width of a value; the head dimension of Mamba.")
    convolution: int = Field(default=4, ge=1, le=1_000_000, description="Tokens that the convolution sees.")


class Architecture(Settings):
    """A transformer's shape, as its config.json states it."""

    layers: int = Field(ge=1, le=1000, description="Hidden layers.")
    hidden: int = Field(ge=1, le=1_000_000, description="Width of the residual stream.")
    attention_heads: int = Field(ge=1, le=1_000_000, description="Query heads.")
    kv_heads: int = Field(ge=1, le=1_000_000, description="Key and value heads.")
    head_dim: int = Field(ge=1, le=1_000_000, description="Width of a head.")
    vocabulary: int = Field(ge=1, le=100_000_000, description="Size of the vocabulary.")
    parameters: float = Field(gt=0, le=1_000_000, description="Parameters, in billions.")
    active_parameters: float | None = Field(
        default=None, gt=0, le=1_000_000, description="Of them used for one token, in billions (MoE)."
    )
    context_length: int = Field(ge=1, le=100_000_000, description="The longest context, in tokens.")
    sliding_window: int | None = Field(
        default=None, ge=1, le=100_000_000, description="Window of the layers that do not see everything."
    )
    sliding_layers: int = Field(default=0, ge=0, le=1000, description="How many layers have that window.")
    native_precision: Precision = Field(
        default="bfloat16", description="The precision that the weights are published in."
    )
    weights_gib: float | None = Field(
        default=None, gt=0, le=1_000_000, description="Size of the published weights, in GiB."
    )
    intermediate: int | None = Field(
        default=None, ge=1, le=10_000_000, description="Width of the dense MLP; absent: reckoned from the parameters."
    )
    gated: bool = Field(default=True, description="True: the MLP has a gate, three matrices; false: two.")
    tied_embeddings: bool = Field(default=False, description="True where the output uses the embedding's matrix.")
    attention_layers: int | None = Field(
        default=None, ge=0, le=1000, description="Layers with keys and values; absent: all that are not recurrent."
    )
    mlp_layers: int | None = Field(
        default=None, ge=0, le=1000, description="Layers with an MLP or experts; absent: all."
    )
    query_norm: Literal["none", "head", "width"] = Field(
        default="none", description="Normalised queries and keys: by head, or over the whole width."
    )
    query_gate: bool = Field(default=False, description="True where queries bring a gate of the same width.")
    experts: Experts | None = Field(default=None, description="The experts of a mixture (MoE).")
    latent: Latent | None = Field(default=None, description="Latent attention (MLA).")
    indexer: Indexer | None = Field(default=None, description="The indexer of sparse attention (DSA).")
    recurrent: Recurrent | None = Field(default=None, description="Layers with a state of constant size.")
    source: str | None = Field(default=None, description="Where these figures stand.")

    @property
    def caching_layers(self) -> int:
        """Layers that keep keys and values."""
        if self.attention_layers is not None:
            return self.attention_layers
        return self.layers - (self.recurrent.layers if self.recurrent else 0)

    @property
    def full_layers(self) -> int:
        """Layers that keep them for the whole context."""
        return max(self.caching_layers - self.sliding_layers, 0)

    def weights(self, precision: str) -> float:
        """Size of all weights in GiB; embedding, output and norms stay in 16 bits whatever the precision."""
        if precision == self.native_precision and self.weights_gib is not None:
            return self.weights_gib
        return weight_bytes(self, precision) / 2**30

    def kv_bytes_per_layer(self, *, tensor_parallel: int = 1, kv_bits: float = 16) -> float:
        """Key and value bytes of one token in one layer of one GPU; what does not divide by heads is replicated."""
        if self.latent is not None:
            index = self.indexer.dim + 4 if self.indexer else 0  # 8 bits each and a scale
            return (self.latent.kv_rank + self.latent.rope_dim) * kv_bits / 8 + index
        return 2 * math.ceil(self.kv_heads / tensor_parallel) * self.head_dim * kv_bits / 8

    def kv_bytes_per_token(self, *, tensor_parallel: int = 1, pipeline_parallel: int = 1, kv_bits: int = 16) -> float:
        """Key and value bytes of one token on one GPU, in the layers that keep it as long as the sequence lives."""
        per_layer = self.kv_bytes_per_layer(tensor_parallel=tensor_parallel, kv_bits=kv_bits)
        return per_layer * self.full_layers / pipeline_parallel

    def state_bytes(self, *, tensor_parallel: int = 1, pipeline_parallel: int = 1) -> float:
        """Bytes of one sequence on one GPU that do not grow with it: the states of recurrent layers."""
        if self.recurrent is None:
            return 0.0
        part = self.recurrent
        state = part.value_heads * part.key_dim * part.value_dim * STATE_BYTES
        window = (part.convolution - 1) * (2 * part.key_heads * part.key_dim + part.value_heads * part.value_dim)
        return (state + window * CONVOLUTION_BYTES) * part.layers / tensor_parallel / pipeline_parallel

    def sequence_bytes(
        self, tokens: float, *, tensor_parallel: int = 1, pipeline_parallel: int = 1, kv_bits: int = 16
    ) -> float:
        """Cache bytes of one sequence of so many tokens on one GPU: full layers, windows and states."""
        split = {"tensor_parallel": tensor_parallel, "pipeline_parallel": pipeline_parallel}
        per_layer = self.kv_bytes_per_layer(tensor_parallel=tensor_parallel, kv_bits=kv_bits)
        windowed = min(tokens, self.sliding_window or tokens) * per_layer * self.sliding_layers / pipeline_parallel
        return tokens * self.kv_bytes_per_token(kv_bits=kv_bits, **split) + windowed + self.state_bytes(**split)


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
