"""One replica of a model on its GPUs, with the flags of the engine that the reckoning assumes."""

from dataclasses import dataclass, replace
from functools import cached_property

from rackwright.capacity.hardware import Hardware
from rackwright.site.known.architectures import Architecture
from rackwright.site.known.tensors import BITS_PER_PARAMETER, FOUR_BITS
from rackwright.site.memory import GIB, EngineMemory, default_batch_tokens, engine_memory

BLOCK = 128  # 8-bit weights published in blocks of 128 x 128 cannot be split finer


@dataclass(frozen=True)
class Deployment:
    """A replica: the model, its GPUs, how they share it, and the engine's flags."""

    name: str
    shape: Architecture
    precision: str
    hardware: Hardware
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    data_parallel: int = 1
    expert_parallel: bool = False
    kv_bits: int = 16
    memory_fraction: float = 0.92
    sequences: int = 256
    batch_tokens: int = 0  # 0: the engine's default for this GPU
    prefix_caching: bool = True
    version: str | None = None

    @property
    def gpus(self) -> int:
        """GPUs of the replica."""
        return self.tensor_parallel * self.pipeline_parallel * self.data_parallel

    @property
    def step_tokens(self) -> int:
        """Tokens that one step takes at most."""
        return self.batch_tokens or default_batch_tokens(self.hardware.usable_gib, self.hardware.family)

    @cached_property
    def stored_precision(self) -> str:
        """The format of the weights; a model published in mxfp4 keeps it, whatever name of 4 bits a table gives it."""
        is_mx = self.shape.native_precision == "mxfp4" and BITS_PER_PARAMETER[self.precision] < FOUR_BITS
        return "mxfp4" if is_mx else self.precision

    @cached_property
    def spreads_experts(self) -> bool:
        """True where whole experts lie on each GPU: asked for, or the only way to split 8-bit blocks."""
        if self.shape.experts is None:
            return False
        blocks = self.stored_precision == "fp8" and self.shape.native_precision == "fp8"
        return self.expert_parallel or (blocks and self.shape.experts.intermediate % (BLOCK * self.tensor_parallel) > 0)

    @cached_property
    def memory(self) -> EngineMemory:
        """What one GPU holds."""
        return engine_memory(
            self.shape,
            self.stored_precision,
            self.hardware.usable_gib,
            tensor_parallel=self.tensor_parallel,
            pipeline_parallel=self.pipeline_parallel,
            expert_parallel=self.data_parallel,
            memory_fraction=self.memory_fraction,
            sequences=self.sequences,
            batch_tokens=self.step_tokens,
            fused_sums=self.hardware.fuses_sums,
            version=self.version,
        )

    @property
    def pool_bytes(self) -> float:
        """Bytes of one GPU for the KV cache; 0 where the weights do not fit."""
        return max(self.memory.pool, 0.0) * GIB

    def sequence_bytes(self, tokens: float) -> float:
        """Cache bytes of one sequence of so many tokens on one GPU."""
        return self.shape.sequence_bytes(
            tokens,
            tensor_parallel=self.tensor_parallel,
            pipeline_parallel=self.pipeline_parallel,
            kv_bits=self.kv_bits,
        )

    def sequences_of(self, tokens: float) -> float:
        """Sequences of so many tokens that the caches of one data-parallel rank hold."""
        return self.pool_bytes / max(self.sequence_bytes(tokens), 1.0)

    @property
    def log_tokens(self) -> int:
        """The cache in tokens as vLLM's log derives it: as if every layer kept every token."""
        per_layer = self.shape.kv_bytes_per_layer(tensor_parallel=self.tensor_parallel, kv_bits=self.kv_bits)
        per_token = per_layer * self.shape.caching_layers / self.pipeline_parallel
        return int(self.pool_bytes / per_token) if per_token else 0

    @property
    def longest_context(self) -> int:
        """Tokens of the longest sequence that the cache holds and the model knows."""
        low, high = 0, self.shape.context_length
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.sequences_of(middle) >= 1 else (low, middle - 1)
        return low

    def with_(self, **changes: object) -> "Deployment":
        """The same with other settings."""
        return replace(self, **changes)  # type: ignore[arg-type] # names are checked by replace
