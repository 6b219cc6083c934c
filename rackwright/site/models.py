"""Served models: where their weights come from and how vLLM is to run them."""

import math
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag, field_validator

from rackwright.site.hosts import Phase
from rackwright.site.known.architectures import Architecture, Precision, architecture
from rackwright.site.serving import Lora, Serving
from rackwright.site.settings import Form, Name, Settings
from rackwright.site.sources import Source, tag

MigProfile = Annotated[str, StringConstraints(pattern=r"^[1-9]g\.[1-9][0-9]*gb$"), Form("such as 1g.10gb")]


def _kind_of_shape(shape: Any) -> str:
    return tag("name" if isinstance(shape, str) else "shape")


Shape = Annotated[
    Annotated[str, Tag(tag("name"))] | Annotated[Architecture, Tag(tag("shape"))], Discriminator(_kind_of_shape)
]


class Model(Settings):
    """One model and the flags it is served with."""

    name: Name = Field(description="The name that tenants ask for.")
    source: Source = Field(description="Where the weights come from: hub, s3, nfs or local.")
    architecture: Shape = Field(description="A known base model's name, or the shape itself.")
    precision: Precision = Field(description="The precision of the weights in that source.")
    kv_precision: Literal["auto", "fp8"] = Field(
        default="auto", description="The KV cache: as the activations, or fp8."
    )
    tensor_parallel: int = Field(default=1, ge=1, le=16, description="GPUs that share every layer.")
    pipeline_parallel: int = Field(
        default=1,
        ge=1,
        le=16,
        description="Groups of layers, one after the other; in phase 2 on as many hosts as they take.",
    )
    context_length: int = Field(ge=256, le=100_000_000, description="The longest context served, in tokens.")
    sequences: int = Field(default=256, ge=1, le=4096, description="Requests in one batch at the most.")
    memory_fraction: float = Field(
        default=0.92, ge=0.1, le=0.98, description="Share of each GPU's memory that vLLM takes."
    )
    shared_memory_gib: int | None = Field(
        default=None,
        ge=1,
        le=32_768,
        description="Shared memory of each pod; absent: 2 GiB and 1 more for each further GPU that it has on its host.",
    )
    mig_profile: MigProfile | None = Field(
        default=None, description="The MIG slice that a replica takes; with mig_strategy: mixed alone."
    )
    tool_call_parser: str | None = Field(default=None, description="vLLM's parser of tool calls, e.g. hermes.")
    reasoning_parser: str | None = Field(default=None, description="vLLM's parser of reasoning, e.g. qwen3.")
    lora: Lora | None = Field(default=None, description="LoRA adapters.")
    phase1: Serving = Field(default=Serving(replicas=0), description="On the first server.")
    phase2: Serving = Field(default=Serving(replicas=0), description="On the rack.")

    @field_validator("architecture")
    @classmethod
    def _architecture_is_known(cls, shape: Architecture | str) -> Architecture | str:
        if isinstance(shape, str):
            architecture(shape)
        return shape

    @property
    def shape(self) -> Architecture:
        """The model's shape, looked up where it is only named."""
        return architecture(self.architecture) if isinstance(self.architecture, str) else self.architecture

    def in_phase(self, phase: Phase) -> Serving:
        """How it runs in a phase."""
        return self.phase1 if phase == 1 else self.phase2

    @property
    def gpus(self) -> int:
        """GPUs of one replica."""
        return self.tensor_parallel * self.pipeline_parallel

    @property
    def shm_gib(self) -> int:
        """Size of /dev/shm, in GiB: 64 MB, the default of a container, crashes NCCL with more than one GPU."""
        return self.shared_memory_gib or 1 + self.gpus

    @property
    def memory_gib(self) -> int:
        """Memory of one replica's pod in GiB: shared memory, each worker's CUDA context and buffers, the server."""
        return self.shm_gib + 6 * self.gpus + 4

    @property
    def cores(self) -> int:
        """Processor threads of one replica's pod: one for each worker, the engine's core and the server."""
        return self.gpus + 2

    @property
    def weights_gib(self) -> float:
        """Size of the weights, in GiB."""
        return self.shape.weights(self.precision)

    @property
    def kv_bytes_per_token(self) -> float:
        """Key and value bytes of a token on one GPU of a replica."""
        bits = 8 if self.kv_precision == "fp8" else 16
        return self.shape.kv_bytes_per_token(
            tensor_parallel=self.tensor_parallel, pipeline_parallel=self.pipeline_parallel, kv_bits=bits
        )

    @property
    def volume_gib(self) -> int:
        """Room for the weights twice over (an update downloads beside the old ones) and compiled kernels, in GiB."""
        return math.ceil(self.weights_gib * 2.2 + 20)
