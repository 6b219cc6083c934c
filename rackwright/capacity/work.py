"""What one step of the engine has to do, in units that constants turn into milliseconds.

A step takes `decodes` sequences, whose contexts sum to `context` tokens, one token further, and computes `prefill`
tokens of prompts, which look back on `pairs` tokens in all. Amounts of time are those of hardware at its stated speed.
"""

from dataclasses import dataclass
from functools import cached_property

from rackwright.capacity.deployment import Deployment
from rackwright.capacity.kernels import collectives, kernels, mlp_layers
from rackwright.site.known.tensors import part_bits, tensors

AMOUNTS = (
    "weight_stream", "expert_stream", "cache_stream", "dense_compute", "expert_compute", "attention_compute",
    "kernel", "transfer", "activation", "sequence", "launch",
)  # fmt: skip
COEFFICIENTS = (
    "weight_stream", "expert_stream", "full_cache", "window_cache", "window", "looked", "state", "dense_compute",
    "expert_compute", "full_pairs", "window_pairs", "index_pairs", "kernels", "transfer", "activation", "layers",
)  # fmt: skip
DENSE_RIDGE = 0.65  # products of few tokens hide their operations behind this share of the time to read their weights
EXPERT_RIDGE = 0.2  # below the quotient of their constants, or faster memory would slow a step down
RESIDUAL_PASSES = 8  # times that a layer's residual stream is read or written, each in 16 bits
EXPERT_PASSES = 3
Amounts = tuple[float, float, float, float, float, float, float, float, float, float, float]


@dataclass(frozen=True)
class Work:
    """Amounts of a step of one replica, in milliseconds at full speed, in kernels, and in layers times sequences."""

    replica: Deployment

    @cached_property
    def fixed(self) -> dict[str, float]:
        """Coefficients that depend on the replica alone."""
        return {**_streams(self.replica), **_computes(self.replica), **_traffic(self.replica)}

    @cached_property
    def _ordered(self) -> tuple[float, ...]:
        fixed, replica = self.fixed, self.replica
        share = 1 / (replica.pipeline_parallel * replica.data_parallel)
        return (share, *(fixed[name] for name in COEFFICIENTS))

    def step(self, decodes: float, context: float, prefill: float, pairs: float) -> Amounts:
        """Amounts of one step."""
        (
            share, weights, experts, full_cache, window_cache, window, looked, state, dense, routed, full_pairs,
            window_pairs, index_pairs, kernels_, transfer, activation, layers,
        ) = self._ordered  # fmt: skip
        decodes, context, prefill, pairs = decodes * share, context * share, prefill * share, pairs * share
        tokens = decodes + prefill
        expert_stream = experts * self.hit(tokens) if experts else 0.0
        cache = full_cache * min(context, decodes * looked) + state * decodes
        attention = full_pairs * min(pairs, prefill * looked) + index_pairs * pairs
        if window:
            cache += window_cache * min(context, decodes * window)
            attention += window_pairs * min(pairs, prefill * window)
        return (
            weights,
            expert_stream,
            cache,
            max(0.0, dense * tokens - DENSE_RIDGE * weights),
            max(0.0, routed * tokens - EXPERT_RIDGE * expert_stream),
            attention,
            kernels_,
            transfer * tokens,
            activation * tokens,
            layers * decodes,
            kernels_ if prefill > 0 else 0.0,
        )

    def hit(self, tokens: float) -> float:
        """Share of the experts that tokens reach, as if each were as likely as any other."""
        experts = self.replica.shape.experts
        if experts is None or tokens <= 0:
            return 0.0
        everywhere = tokens * self.replica.data_parallel
        return float(1 - (1 - experts.per_token / experts.count) ** everywhere)


def _streams(replica: Deployment) -> dict[str, float]:
    """Milliseconds to read weights, experts (all of them) and the cache of one token."""
    shape, speed = replica.shape, replica.hardware.bandwidth / 1e3
    parts = tensors(shape)
    inner, expert_bits, plain = part_bits(shape, replica.stored_precision)
    divided = (parts.linear - parts.replicated) * inner / replica.tensor_parallel + parts.replicated * inner
    output = (parts.output or parts.embedding) * plain / replica.tensor_parallel
    groups = replica.tensor_parallel * replica.data_parallel
    per_layer = shape.kv_bytes_per_layer(tensor_parallel=replica.tensor_parallel, kv_bits=replica.kv_bits)
    return {
        "weight_stream": (divided + output) / 8 / speed,
        "expert_stream": parts.experts * expert_bits / 8 / groups / speed,
        "full_cache": per_layer * shape.full_layers / speed,
        "window_cache": per_layer * (shape.caching_layers - shape.full_layers) / speed,
        "window": float(shape.sliding_window or 0),
        "looked": float(shape.indexer.tokens) if shape.indexer else float("inf"),
        "state": 2 * shape.state_bytes(tensor_parallel=replica.tensor_parallel) / speed,
    }


def _computes(replica: Deployment) -> dict[str, float]:
    """Milliseconds of operations for one token, and for one pair of a token with one that it looks back on."""
    shape, tensor_parallel = replica.shape, replica.tensor_parallel
    parts = tensors(shape)
    whole = shape.experts is None or replica.stored_precision in ("fp8", "int8")
    linear_speed = replica.hardware.operations(replica.stored_precision if whole else "bfloat16") / 1e3
    expert_speed = replica.hardware.operations(replica.stored_precision) / 1e3
    plain_speed = replica.hardware.operations("bfloat16") / 1e3
    routed = parts.experts * shape.experts.per_token / shape.experts.count if shape.experts else 0.0
    wide = 2 * shape.head_dim
    if shape.latent is not None:
        wide = shape.latent.nope_dim + shape.latent.rope_dim + shape.latent.value_dim
    pair = 2 * shape.attention_heads * wide / tensor_parallel / plain_speed
    index = 2 * shape.indexer.heads * shape.indexer.dim * shape.caching_layers / plain_speed if shape.indexer else 0.0
    return {
        "dense_compute": 2 * parts.linear / tensor_parallel / linear_speed,
        "expert_compute": 2 * routed / tensor_parallel / expert_speed,
        "full_pairs": pair * shape.full_layers,
        "window_pairs": pair * (shape.caching_layers - shape.full_layers),
        "index_pairs": index,
    }


def _traffic(replica: Deployment) -> dict[str, float]:
    """Milliseconds to move one token's activations through memory and between GPUs; kernels; layers."""
    shape, tensor_parallel = replica.shape, replica.tensor_parallel
    mixers = shape.caching_layers + (shape.recurrent.layers if shape.recurrent else 0)
    mixed = shape.experts.layers if shape.experts else 0
    heads = shape.caching_layers * 2 * (shape.attention_heads + shape.kv_heads) * shape.head_dim / tensor_parallel
    passes = RESIDUAL_PASSES / 2 * shape.hidden * (mixers + mlp_layers(shape)) + heads
    passes += (mlp_layers(shape) - mixed) * EXPERT_PASSES * (shape.intermediate or 4 * shape.hidden) / tensor_parallel
    if shape.experts is not None:
        part = shape.experts
        wide = part.per_token * (shape.hidden + part.intermediate / tensor_parallel)
        passes += mixed * EXPERT_PASSES * (wide + part.shared_intermediate / tensor_parallel)
    ring = 2 * (tensor_parallel - 1) / tensor_parallel
    moved = 2 * shape.hidden * ring * collectives(shape)
    if replica.data_parallel > 1 and shape.experts is not None:  # tokens go to their experts in 8 bits, back in 16
        moved += 3 * shape.hidden * shape.experts.per_token * mixed / tensor_parallel
    return {
        "activation": 2 * passes / (replica.hardware.bandwidth / 1e3),
        "transfer": moved / (replica.hardware.link_bandwidth / 1e3),
        "kernels": kernels(replica),
        "layers": float(shape.layers),
    }
