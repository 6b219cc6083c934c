"""Replicas from names and flags, and from a site's settings."""

from rackwright.capacity.deployment import Deployment
from rackwright.capacity.hardware import Hardware, hardware
from rackwright.capacity.names import find_shape
from rackwright.errors import Refusal
from rackwright.site.known.tensors import BITS_PER_PARAMETER

LARGE_GIB = 70  # GPUs of this size and more get more sequences by default (vLLM's engine arguments)


def default_sequences(device: Hardware) -> int:
    """The engine's default of --max-num-seqs."""
    return 1024 if device.usable_gib >= LARGE_GIB and device.family != "ampere" else 256


def replica_of(
    model: str,
    gpu: str,
    *,
    memory_gb: int | None = None,
    precision: str | None = None,
    tensor_parallel: int = 1,
    pipeline_parallel: int = 1,
    data_parallel: int = 1,
    kv_bits: int = 16,
    memory_fraction: float = 0.92,
    sequences: int | None = None,
    batch_tokens: int = 0,
    version: str | None = None,
) -> Deployment:
    """A replica by names; what is left out is the engine's default, and the precision the published one."""
    shape, device = find_shape(model), hardware(gpu, memory_gb=memory_gb)
    if precision is not None and precision not in BITS_PER_PARAMETER:
        raise Refusal(
            f"The precision {precision[:40]!r} is not known.", f"Write one of {', '.join(BITS_PER_PARAMETER)}."
        )
    return Deployment(
        name=model,
        shape=shape,
        precision=precision or shape.native_precision,
        hardware=device,
        tensor_parallel=tensor_parallel,
        pipeline_parallel=pipeline_parallel,
        data_parallel=data_parallel,
        kv_bits=kv_bits,
        memory_fraction=memory_fraction,
        sequences=sequences or default_sequences(device),
        batch_tokens=batch_tokens,
        version=version,
    )
