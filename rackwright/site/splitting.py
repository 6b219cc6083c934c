"""How a model may be split over GPUs, and how long a context then finds room."""

from rackwright.site.hosts import Gpus
from rackwright.site.known.architectures import Architecture
from rackwright.site.memory import kv_pool_gib
from rackwright.site.models import Model

MOST_GPUS = 16


def legal_tensor_parallel(shape: Architecture) -> tuple[int, ...]:
    """Numbers of GPUs that a layer may be split over: heads are shared out whole, key and value heads or copied."""
    return tuple(
        count
        for count in range(1, MOST_GPUS + 1)
        if shape.attention_heads % count == 0
        and (shape.latent is not None or shape.kv_heads % count == 0 or count % shape.kv_heads == 0)
    )


def longest_context(model: Model, gpus: Gpus) -> int:
    """Tokens of the longest sequence that the KV cache of a replica holds; 0 where the weights leave nothing."""
    pool = kv_pool_gib(model, gpus) * 2**30
    short, beyond = 0, model.shape.context_length + 1
    while beyond - short > 1:
        middle = (short + beyond) // 2
        short, beyond = (middle, beyond) if _sequence_bytes(model, middle) <= pool else (short, middle)
    return short


def tensor_parallel_that_fits(model: Model, gpus: Gpus, most: int) -> int | None:
    """The least number of GPUs, up to `most`, with which the model serves its context; None where none does."""
    legal = (count for count in legal_tensor_parallel(model.shape) if model.tensor_parallel < count <= most)
    larger = (model.model_copy(update={"tensor_parallel": count}) for count in legal)
    return next((each.tensor_parallel for each in larger if longest_context(each, gpus) >= model.context_length), None)


def _sequence_bytes(model: Model, tokens: int) -> float:
    return model.shape.sequence_bytes(
        tokens,
        tensor_parallel=model.tensor_parallel,
        pipeline_parallel=model.pipeline_parallel,
        kv_bits=8 if model.kv_precision == "fp8" else 16,
    )
