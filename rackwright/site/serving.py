"""How often and in which manner a model runs in a phase, and what is served beside it."""

from typing import Literal

from pydantic import Field

from rackwright.site.settings import Commit, Name, Settings
from rackwright.site.sources import HubName


class Adapter(Settings):
    """A LoRA adapter that is served beside the model, under its own name."""

    name: Name = Field(description="The model name that calls it.")
    hub: HubName = Field(description="Its repository on the hub.")
    revision: Commit = Field(description="The commit.")


class Lora(Settings):
    """LoRA adapters of one model."""

    adapters: tuple[Adapter, ...] = Field(min_length=1, description="The adapters.")
    rank: Literal[8, 16, 32, 64, 128, 256] = Field(default=16, description="The highest rank of any of them.")


class Disaggregation(Settings):
    """Prefill and decode on servers of their own."""

    prefill: int = Field(ge=1, le=256, description="Prefill replicas.")
    decode: int = Field(ge=1, le=256, description="Decode replicas.")


class Serving(Settings):
    """How a model runs in one phase."""

    replicas: int = Field(ge=0, le=256, description="Servers of the model; 0 takes it out of the phase.")
    priority: bool = Field(
        default=False, description="Priority scheduling in the engine; off: first come, first served."
    )
    through: Literal["llm_d", "kserve"] = Field(
        default="llm_d", description="Who owns its objects in phase 2; KServe is refused so far."
    )
    disaggregation: Disaggregation | None = Field(default=None, description="Prefill and decode apart; phase 2 only.")
