"""What is left of a GPU for the KV cache, as vLLM reckons it."""

from rackwright.site.gpu_resources import device_gib
from rackwright.site.hosts import Gpus
from rackwright.site.models import Model

ACTIVATION_GIB = 2.5  # measured 1.9 to 2.3 by vLLM 0.17 and newer for 8 to 14 billion parameters (docs/sources.md)
NON_TORCH_GIB = 0.25  # one GPU, measured
NON_TORCH_PARALLEL_GIB = 2.1  # two GPUs and more: NCCL's buffers, measured


def kv_pool_gib(model: Model, gpus: Gpus) -> float:
    """GiB of one GPU that are left for the KV cache; negative where the weights alone do not fit."""
    usable = device_gib(gpus, model.mig_profile)
    non_torch = NON_TORCH_GIB if model.gpus == 1 else NON_TORCH_PARALLEL_GIB
    return usable * model.memory_fraction - model.weights_gib / model.gpus - ACTIVATION_GIB - non_torch


def kv_pool_tokens(model: Model, gpus: Gpus) -> int:
    """Tokens that the KV cache of a replica holds; 0 where nothing is left."""
    return max(0, int(kv_pool_gib(model, gpus) * 2**30 / model.kv_bytes_per_token))
