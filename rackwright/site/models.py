"""Served models: where their weights come from and how vLLM is to run them."""

import math
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, StringConstraints, Tag, field_validator, model_validator

from rackwright.site.architectures import Architecture, Precision, architecture
from rackwright.site.settings import Identifier, Name, Settings

HubName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$")]


class Hub(Settings):
    """A repository of the Hugging Face hub."""

    hub: HubName = Field(description="Its name, owner/model.")
    revision: str = Field(min_length=1, description="A commit, so that every replica serves the same weights.")
    token: Identifier | None = Field(
        default=None, description="The name of the access token in the vault, for a gated model."
    )


class S3(Settings):
    """A prefix in the site's object storage."""

    s3: Annotated[str, StringConstraints(pattern=r"^[^/\s][^\s]*$")] = Field(description="The prefix below the bucket.")


class Nfs(Settings):
    """A folder on an NFS server."""

    nfs: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.-]+:/[^\s]*$")] = Field(
        description="server:/export/folder"
    )


class Local(Settings):
    """A folder that already lies on the server's models drive."""

    local: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$")] = Field(
        description="The folder, relative to the root of the model's volume."
    )


def _kind_of_source(source: Any) -> str | None:
    kinds = {"hub", "s3", "nfs", "local"}
    if isinstance(source, dict):
        return next((kind for kind in kinds if kind in source), None)
    return type(source).__name__.lower()


Source = Annotated[
    Annotated[Hub, Tag("hub")] | Annotated[S3, Tag("s3")] | Annotated[Nfs, Tag("nfs")] | Annotated[Local, Tag("local")],
    Discriminator(
        _kind_of_source,
        custom_error_type="source",
        custom_error_message="names no source; write one of hub, s3, nfs or local",
    ),
]


def _kind_of_shape(shape: Any) -> str:
    return "name" if isinstance(shape, str) else "shape"


Shape = Annotated[Annotated[str, Tag("name")] | Annotated[Architecture, Tag("shape")], Discriminator(_kind_of_shape)]


class Adapter(Settings):
    """A LoRA adapter that is served beside the model, under its own name."""

    name: Name = Field(description="The model name that calls it.")
    hub: HubName = Field(description="Its repository on the hub.")
    revision: str = Field(min_length=1, description="A commit.")


class Lora(Settings):
    """LoRA adapters of one model."""

    adapters: tuple[Adapter, ...] = Field(min_length=1, description="The adapters.")
    rank: Literal[8, 16, 32, 64, 128, 256] = Field(default=16, description="The highest rank of any of them.")


class Disaggregation(Settings):
    """Prefill and decode on servers of their own."""

    prefill: int = Field(ge=1, description="Prefill replicas.")
    decode: int = Field(ge=1, description="Decode replicas.")


class Serving(Settings):
    """How a model runs in one phase."""

    replicas: int = Field(ge=0, le=256, description="Servers of the model; 0 takes it out of the phase.")
    priority: bool = Field(
        default=False, description="Priority scheduling in the engine; off: first come, first served."
    )
    through: Literal["llm_d", "kserve"] = Field(default="llm_d", description="Who owns its objects in phase 2.")
    disaggregation: Disaggregation | None = Field(default=None, description="Prefill and decode apart; phase 2 only.")


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
    pipeline_parallel: int = Field(default=1, ge=1, le=16, description="Groups of layers, one after the other.")
    context_length: int = Field(ge=256, description="The longest context served, in tokens.")
    sequences: int = Field(default=256, ge=1, le=4096, description="Requests in one batch at the most.")
    memory_fraction: float = Field(
        default=0.92, ge=0.1, le=0.98, description="Share of each GPU's memory that vLLM takes."
    )
    shared_memory_gib: int | None = Field(
        default=None, ge=1, description="Shared memory; absent: 2 GiB and 1 more for each further GPU."
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

    @model_validator(mode="after")
    def _parallelism_is_legal(self) -> Self:
        heads, layers = self.shape.attention_heads, self.shape.layers
        if heads % self.tensor_parallel:
            legal = ", ".join(str(n) for n in range(1, 17) if heads % n == 0)
            raise ValueError(
                f"tensor_parallel {self.tensor_parallel} does not divide {heads} attention heads; write one of {legal}"
            )
        if self.pipeline_parallel > layers:
            raise ValueError(f"pipeline_parallel {self.pipeline_parallel} is more than the model's {layers} layers")
        return self

    @model_validator(mode="after")
    def _context_is_possible(self) -> Self:
        if self.context_length > self.shape.context_length:
            raise ValueError(
                f"context_length {self.context_length} is beyond the {self.shape.context_length} tokens the model knows; "
                f"write at most {self.shape.context_length}"
            )
        return self

    @property
    def shape(self) -> Architecture:
        """The model's shape, looked up where it is only named."""
        return architecture(self.architecture) if isinstance(self.architecture, str) else self.architecture

    @property
    def gpus(self) -> int:
        """GPUs of one replica."""
        return self.tensor_parallel * self.pipeline_parallel

    @property
    def shm_gib(self) -> int:
        """Size of /dev/shm, in GiB: 64 MB, the default of a container, crashes NCCL with more than one GPU."""
        return self.shared_memory_gib or 1 + self.gpus

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
