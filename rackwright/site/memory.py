"""What vLLM makes of a GPU's memory: weights, activations, buffers of the runtime, and the rest for the KV cache."""

import re
from dataclasses import dataclass

from rackwright.site.gpu_resources import device_gib
from rackwright.site.hosts import Gpus
from rackwright.site.known.architectures import Architecture
from rackwright.site.known.tensors import BITS_PER_PARAMETER, gpu_weight_bytes
from rackwright.site.models import Model

GIB = 2**30
FORWARD_HIDDEN = 4.25  # widths of the residual stream alive at the peak of a layer (docs/capacity.md)
FORWARD_INTERMEDIATE = 3  # gate, up and their product
GRAPHS_GIB, GRAPHS_PER_LAYER_GIB = 0.35, 0.0165  # measured 0.84 GiB with 32 layers, 1.66 GiB with 80, of all sizes
# Sequences that CUDA graphs are captured for: of these sizes, those of at most twice --max-num-seqs (vLLM, config).
GRAPH_SIZES: tuple[int, ...] = (1, 2, 4, *range(8, 256, 8), *range(256, 513, 16))
PARALLEL_GIB_PER_GPU = 0.035
PIPELINE_GIB = 0.07


@dataclass(frozen=True)
class Era:
    """What a range of vLLM versions holds back, measured (docs/capacity.md)."""

    since: tuple[int, int]
    sampler_copies: float  # of the logits of all sequences in 32 bits, at the sampler's peak
    single_gib: float  # beside torch, one GPU
    parallel_gib: float  # beside torch, two and more: NCCL's buffers
    fused_gib: float  # the same, for sums over GPUs that are fused with norms
    counts_graphs: bool  # CUDA graphs are taken off before the KV cache, not after


ERAS = (
    Era((0, 0), 9.7, 0.13, 0.5, 0.0, counts_graphs=False),
    Era((0, 17), 3.87, 0.13, 0.5, 1.5, counts_graphs=False),
    Era((0, 18), 3.87, 0.25, 0.5, 1.5, counts_graphs=False),
    Era((0, 20), 3.87, 0.25, 0.5, 1.5, counts_graphs=True),
)


@dataclass(frozen=True)
class EngineMemory:
    """One GPU's memory in GiB, as the engine's log would say it; `pool` is negative where the weights do not fit."""

    usable: float
    budget: float
    weights: float
    activation: float
    non_torch: float
    graphs: float
    pool: float


def era(version: str | None) -> Era:
    """What holds for a version such as 0.19.0; the newest for none."""
    found = re.match(r"v?(\d+)\.(\d+)", version or "")
    if not found:
        return ERAS[-1]
    wanted = (int(found[1]), int(found[2]))
    return next(each for each in reversed(ERAS) if each.since <= wanted)


def default_batch_tokens(usable_gib: float, family: str) -> int:
    """Tokens that one step takes by default, by the size of the GPU (vLLM's engine arguments)."""
    if usable_gib >= 160:
        return 16384
    return 8192 if usable_gib >= 70 and family != "ampere" else 2048


def graph_share(sequences: int) -> float:
    """How many of all sizes CUDA graphs are captured for, where so many sequences run at most."""
    return len([size for size in GRAPH_SIZES if size <= 2 * sequences]) / len(GRAPH_SIZES)


def engine_memory(
    shape: Architecture,
    precision: str,
    usable_gib: float,
    *,
    tensor_parallel: int = 1,
    pipeline_parallel: int = 1,
    expert_parallel: int = 1,
    memory_fraction: float = 0.92,
    sequences: int = 256,
    batch_tokens: int = 8192,
    fused_sums: bool = True,
    version: str | None = None,
) -> EngineMemory:
    """What one GPU of a replica holds."""
    split = {"tensor_parallel": tensor_parallel, "pipeline_parallel": pipeline_parallel}
    weights = gpu_weight_bytes(shape, precision, expert_parallel=expert_parallel, **split) / GIB
    if precision == shape.native_precision and shape.weights_gib is not None:
        weights *= shape.weights_gib * GIB / gpu_weight_bytes(shape, precision)
    held = era(version)
    activation = _activation(shape, precision, held, batch_tokens, sequences, tensor_parallel, pipeline_parallel)
    layers = GRAPHS_PER_LAYER_GIB * shape.layers / pipeline_parallel * graph_share(sequences)
    graphs = GRAPHS_GIB + layers if held.counts_graphs else 0.0
    non_torch = held.single_gib if pipeline_parallel == 1 else PIPELINE_GIB
    if tensor_parallel > 1:
        non_torch = held.parallel_gib + held.fused_gib * fused_sums + PARALLEL_GIB_PER_GPU * tensor_parallel
    budget = usable_gib * memory_fraction
    pool = budget - weights - activation - non_torch - graphs
    return EngineMemory(usable_gib, budget, weights, activation, non_torch, graphs, pool)


def _activation(
    shape: Architecture,
    precision: str,
    held: Era,
    batch_tokens: int,
    sequences: int,
    tensor_parallel: int,
    pipeline_parallel: int,
) -> float:
    """GiB at the peak of the profile run: a layer's forward pass or the sampler, and the experts' workspace."""
    wide = (shape.intermediate or 0) * FORWARD_INTERMEDIATE / tensor_parallel
    forward = 2 * batch_tokens * (wide + FORWARD_HIDDEN * shape.hidden)
    last_only = pipeline_parallel > 1  # the log is the first stage's, and the sampler is on the last
    sampler = 0.0 if last_only else held.sampler_copies * min(sequences, batch_tokens) * shape.vocabulary * 4
    workspace = 0.0
    if shape.experts is not None and BITS_PER_PARAMETER[precision] >= 8:  # kernels of 4 bits work in place
        rows, width = batch_tokens * shape.experts.per_token, shape.experts.intermediate / tensor_parallel
        workspace = 2 * rows * (max(2 * width, shape.hidden) + width)
    return (max(forward, sampler) + workspace) / GIB


def kv_pool_gib(model: Model, gpus: Gpus) -> float:
    """GiB of one GPU that are left for the KV cache; negative where the weights alone do not fit."""
    usable = device_gib(gpus, model.mig_profile)
    return engine_memory(
        model.shape,
        model.precision,
        usable,
        tensor_parallel=model.tensor_parallel,
        pipeline_parallel=model.pipeline_parallel,
        memory_fraction=model.memory_fraction,
        sequences=model.sequences,
        batch_tokens=default_batch_tokens(usable, gpus.known.family),
        fused_sums=gpus.known.fuses_sums,
    ).pool


def kv_pool_tokens(model: Model, gpus: Gpus) -> int:
    """Tokens that the KV cache of a replica holds; 0 where nothing is left."""
    return max(0, int(kv_pool_gib(model, gpus) * GIB / max(model.kv_bytes_per_token, 1)))
