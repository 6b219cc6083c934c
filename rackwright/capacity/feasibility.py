"""Whether a model fits into its GPUs, in which splits it may run, and what the engine's log would say of its memory."""

from typing import Any

from rackwright.capacity.deployment import BLOCK, Deployment
from rackwright.errors import Refusal
from rackwright.site.known.architectures import Architecture

MOST_GPUS = 16


def legal_splits(shape: Architecture, most: int = MOST_GPUS) -> tuple[int, ...]:
    """Tensor-parallel sizes that the engine accepts: powers of two and others that divide the attention heads."""
    return tuple(count for count in range(1, most + 1) if shape.attention_heads % count == 0)


def remarks(replica: Deployment) -> list[str]:
    """What is worth knowing of a split."""
    shape, found = replica.shape, []
    if shape.latent is not None and replica.tensor_parallel > 1:
        found.append("latent attention is not split: every GPU keeps the whole cache of a sequence")
    elif replica.tensor_parallel > shape.kv_heads:
        copies = replica.tensor_parallel // shape.kv_heads
        found.append(f"{shape.kv_heads} key-value heads on {replica.tensor_parallel} GPUs: each is kept {copies} times")
    if replica.spreads_experts and not replica.expert_parallel:
        found.append(f"experts lie whole on the GPUs (--enable-expert-parallel): blocks of {BLOCK} cannot be split")
    if shape.full_layers < shape.caching_layers or shape.recurrent is not None:
        found.append("layers with a window or a state hold more tokens than the log's size of the cache says")
    return found


def check(replica: Deployment, context_length: int) -> None:
    """Refuse a replica that cannot run, with the limit that it meets and what would do."""
    heads, split = replica.shape.attention_heads, replica.tensor_parallel
    if heads % split:
        legal = ", ".join(str(each) for each in legal_splits(replica.shape))
        raise Refusal(f"{split} GPUs do not divide {heads} attention heads.", f"Write one of {legal}.")
    if replica.pipeline_parallel > replica.shape.layers:
        raise Refusal(
            f"{replica.pipeline_parallel} stages are more than the model's {replica.shape.layers} layers.",
            "Write fewer.",
        )
    if replica.sequences_of(float(context_length)) >= 1:
        return
    held, name = replica.memory, f"{replica.name} in {replica.stored_precision}"
    where = f"{replica.gpus} x {replica.hardware.name}" if replica.gpus > 1 else replica.hardware.name
    if held.pool <= 0:
        what = (
            f"{name} does not fit on {where}: {held.weights:.1f} GiB of weights a GPU, {held.budget:.1f} GiB to have."
        )
    else:
        what = (
            f"{name} on {where} has {held.pool:.1f} GiB left for the cache, and one sequence of {context_length} "
            f"tokens takes {replica.sequence_bytes(context_length) / 2**30:.1f} GiB; the longest that fits has "
            f"{replica.longest_context} tokens."
        )
    raise Refusal(what, _cure(replica, context_length))


def _cure(replica: Deployment, context_length: int) -> str:
    for split in legal_splits(replica.shape):
        if split > replica.tensor_parallel:
            wider = replica.with_(tensor_parallel=split)
            if wider.sequences_of(float(context_length)) >= 1:
                return f"Use --tensor-parallel {split}, or weights of fewer bits."
    return "Use weights or a cache of fewer bits, more stages (--pipeline-parallel), or larger GPUs."


def memory_text(replica: Deployment, context_length: int) -> str:
    """The lines of the engine's log."""
    held = replica.memory
    at_once = replica.sequences_of(float(context_length))
    legal = ", ".join(str(each) for each in legal_splits(replica.shape))
    lines = [
        f"{replica.name} on {replica.gpus} x {replica.hardware.name}, GiB of each GPU:",
        f"  Model loading took {held.weights:.2f} GiB memory",
        f"  torch peak memory increase: {held.activation:.2f} GiB",
        f"  non-torch forward increase memory: {held.non_torch:.2f} GiB",
        f"  CUDA graph memory: {held.graphs:.2f} GiB" + ("" if held.graphs else " (taken after the cache)"),
        f"  Available KV cache memory: {held.pool:.2f} GiB of {held.budget:.2f} GiB",
        f"  GPU KV cache size: {replica.log_tokens:,} tokens",
        f"  Maximum concurrency for {context_length:,} tokens per request: {at_once:.2f}x",
        f"Legal --tensor-parallel: {legal}.",
        f"Assumed: {assumed_text(replica)}.",
        *(f"Note: {each}." for each in remarks(replica)),
    ]
    return "\n".join(lines)


def memory_data(replica: Deployment, context_length: int) -> dict[str, Any]:
    """The same as plain data."""
    held, shape = replica.memory, replica.shape
    per_layer = shape.kv_bytes_per_layer(tensor_parallel=replica.tensor_parallel, kv_bits=replica.kv_bits)
    return {
        "model": replica.name,
        "gpu": replica.hardware.name,
        "gpus": replica.gpus,
        "usable_gib": round(held.usable, 2),
        "budget_gib": round(held.budget, 2),
        "weights_gib": round(held.weights, 2),
        "activation_gib": round(held.activation, 2),
        "non_torch_gib": round(held.non_torch, 2),
        "cuda_graphs_gib": round(held.graphs, 2),
        "kv_cache_gib": round(held.pool, 2),
        "kv_cache_tokens": replica.log_tokens,
        "kv_bytes_per_token": per_layer * shape.caching_layers / replica.pipeline_parallel,
        "context_length": context_length,
        "maximum_concurrency": round(replica.sequences_of(float(context_length)), 2),
        "longest_context": replica.longest_context,
        "legal_tensor_parallel": list(legal_splits(shape)),
        "assumed": assumed(replica),
        "remarks": remarks(replica),
    }


def assumed_text(replica: Deployment) -> str:
    """The flags in one line."""
    return ", ".join(f"{name} {value}" for name, value in assumed(replica).items())


def assumed(replica: Deployment) -> dict[str, Any]:
    """The flags that the figures rest on."""
    return {
        "precision": replica.stored_precision,
        "kv-cache-bits": replica.kv_bits,
        "tensor-parallel-size": replica.tensor_parallel,
        "pipeline-parallel-size": replica.pipeline_parallel,
        "data-parallel-size": replica.data_parallel,
        "gpu-memory-utilization": replica.memory_fraction,
        "max-num-seqs": replica.sequences,
        "max-num-batched-tokens": replica.step_tokens,
        "engine": replica.version or "newest known",
    }
