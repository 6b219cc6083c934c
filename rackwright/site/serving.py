"""How often and in which manner a model runs in a phase, and what is served beside it."""

import math
from typing import Literal

from pydantic import Field

from rackwright.site.settings import Commit, Name, Settings
from rackwright.site.sources import HubName

SHARE = 4  # of a Deployment's pods, one in so many is made beside the others, and may be away, while it rolls


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
    """Prompts computed by replicas of their own, whose KV caches move to those that answer."""

    prefill: int = Field(ge=1, le=256, description="Of the replicas, those that compute prompts.")
    decode: int = Field(ge=1, le=256, description="Of the replicas, those that answer.")
    prefill_tensor_parallel: int | None = Field(
        default=None, ge=1, le=16, description="GPUs that share every layer of a prefill replica; absent: the model's."
    )


class Serving(Settings):
    """How a model runs in one phase."""

    replicas: int = Field(ge=0, le=256, description="Servers of the model; 0 takes it out of the phase.")
    priority: bool = Field(
        default=False, description="Priority scheduling in the engine; off: first come, first served."
    )
    through: Literal["llm_d", "kserve"] = Field(
        default="llm_d",
        description="Who owns its pods in phase 2: we, with llm-d's router before them, or KServe's controller.",
    )
    disaggregation: Disaggregation | None = Field(default=None, description="Prefill and decode apart; phase 2 only.")

    @property
    def beside(self) -> int:
        """Pods that a rollout makes beside those that it replaces: a set's are replaced in place.

        Deployments of KServe's have the API's own strategy, a quarter rounded up, and none of theirs may say another.
        """
        return math.ceil(self.replicas / SHARE) if self.through == "kserve" else 0

    @property
    def waits_for_room(self) -> bool:
        """True where a rollout ends no pod before another is ready: a quarter rounded down may be away."""
        return self.through == "kserve" and 0 < self.replicas < SHARE
