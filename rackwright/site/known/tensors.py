"""How many parameters each part of a model has, reckoned from its shape, and what they weigh."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rackwright.site.known.architectures import Architecture

BITS_PER_PARAMETER: dict[str, float] = {
    "float32": 32,
    "bfloat16": 16,
    "float16": 16,
    "fp8": 8,
    "int8": 8,
    "int4": 4.25,
    "mxfp4": 4.25,
    "nvfp4": 4.5,
}
FOUR_BITS = 5  # formats of fewer bits than this cover a mixture's experts alone, as the published ones do


@dataclass(frozen=True)
class Tensors:
    """Parameters by part, over all layers."""

    embedding: float
    output: float
    attention: float
    replicated: float  # whole on every GPU of a tensor-parallel group: MLA's compressions, routers, norms
    dense: float
    shared: float
    experts: float
    recurrent: float
    other: float  # what the published count has beyond these: a vision tower, mostly

    @property
    def linear(self) -> float:
        """Matrices that every token passes, experts apart."""
        return self.attention + self.replicated + self.dense + self.shared + self.recurrent

    @property
    def total(self) -> float:
        """All of them."""
        return self.embedding + self.output + self.linear + self.experts + self.other


def tensors(shape: "Architecture") -> Tensors:
    """Parameters by part; a shape without the width of its MLP gets what its published count leaves for it."""
    published = shape.parameters * 1e9
    embedding = float(shape.vocabulary * shape.hidden)
    output = 0.0 if shape.tied_embeddings else embedding
    attention, replicated = _attention(shape)
    recurrent = _recurrent(shape)
    experts, shared, router = _experts(shape)
    replicated += router + shape.layers * 2 * shape.hidden
    known = embedding + output + attention + replicated + recurrent + experts + shared
    matrices = 3 if shape.gated else 2
    layers = (shape.layers if shape.mlp_layers is None else shape.mlp_layers) - (
        shape.experts.layers if shape.experts else 0
    )
    if shape.intermediate is None:
        dense = max(published - known, 0.0) if layers > 0 else 0.0
    else:
        dense = float(max(layers, 0) * matrices * shape.hidden * shape.intermediate)
    other = max(published - known - dense, 0.0)
    return Tensors(embedding, output, attention, replicated, dense, shared, experts, recurrent, other)


def weight_bytes(shape: "Architecture", precision: str) -> float:
    """Bytes of all weights in a precision; formats of 4 bits leave a mixture's attention in 16."""
    return gpu_weight_bytes(shape, precision)


def gpu_weight_bytes(
    shape: "Architecture",
    precision: str,
    *,
    tensor_parallel: int = 1,
    pipeline_parallel: int = 1,
    expert_parallel: int = 1,
) -> float:
    """Bytes of weights on the fullest GPU; `expert_parallel` counts the groups that experts are spread over besides."""
    parts = tensors(shape)
    inner, experts, plain = part_bits(shape, precision)
    ends = [(parts.embedding + parts.other) * plain, parts.output * plain]
    divided = parts.linear - parts.replicated
    split = divided * inner + parts.experts * experts / expert_parallel
    outer = sum(ends) if pipeline_parallel == 1 else max(ends)
    layers = (split / tensor_parallel + parts.replicated * inner) / pipeline_parallel
    return (layers + outer / tensor_parallel) / 8


def part_bits(shape: "Architecture", precision: str) -> tuple[float, float, float]:
    """Bits of a parameter in linear layers, in experts, and in embedding, output and norms."""
    bits = BITS_PER_PARAMETER[precision]
    plain = max(bits, 16.0)
    inner = plain if shape.experts and bits < FOUR_BITS else bits
    return inner, bits, plain


def active_parameters(shape: "Architecture") -> float:
    """Parameters that one token passes, in billions, the embedding apart."""
    parts = tensors(shape)
    routed = parts.experts * shape.experts.per_token / shape.experts.count if shape.experts else 0.0
    return (parts.linear + routed + (parts.output or parts.embedding)) / 1e9


def _attention(shape: "Architecture") -> tuple[float, float]:
    heads, hidden, layers = shape.attention_heads, shape.hidden, shape.caching_layers
    if shape.latent is None:
        queries = heads * shape.head_dim * (3 if shape.query_gate else 2)  # with the output's
        return float(layers * hidden * (queries + 2 * shape.kv_heads * shape.head_dim)), 0.0
    part = shape.latent
    wide = heads * (part.nope_dim + part.rope_dim)
    compressed = hidden * (part.kv_rank + part.rope_dim) + (hidden * part.query_rank if part.query_rank else 0)
    split = (part.query_rank or hidden) * wide
    split += part.kv_rank * heads * (part.nope_dim + part.value_dim) + heads * part.value_dim * hidden
    if shape.indexer:
        index = shape.indexer
        compressed += (part.query_rank or hidden) * index.heads * index.dim + hidden * (index.dim + index.heads)
    return float(layers * split), float(layers * compressed)


def _recurrent(shape: "Architecture") -> float:
    if shape.recurrent is None:
        return 0.0
    part = shape.recurrent
    keys, values = part.key_heads * part.key_dim, part.value_heads * part.value_dim
    into = 2 * keys + 2 * values + 2 * part.value_heads
    return float(part.layers * (shape.hidden * (into + values) + part.convolution * (2 * keys + values)))


def _experts(shape: "Architecture") -> tuple[float, float, float]:
    if shape.experts is None:
        return 0.0, 0.0, 0.0
    part = shape.experts
    matrices = 3 if shape.gated else 2
    routed = part.layers * part.count * matrices * shape.hidden * part.intermediate
    shared = part.layers * matrices * shape.hidden * part.shared_intermediate
    return float(routed), float(shared), float(part.layers * part.count * shape.hidden)
