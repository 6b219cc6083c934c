"""Who may call, how urgently and how much."""

from typing import Literal

from pydantic import Field

from rackwright.site.settings import Identifier, Name, Settings

PriorityClass = Literal["interactive", "agents", "batch"]


class Limits(Settings):
    """What one tenant may use."""

    requests_per_minute: int = Field(
        default=600, ge=1, le=1_000_000, description="Requests in a minute; more are refused with 429."
    )
    tokens_per_minute: int | None = Field(
        default=None, ge=1, le=1_000_000_000, description="Tokens in a minute, prompt and answer; phase 2."
    )
    concurrent_requests: int = Field(default=64, ge=1, le=1_000_000, description="Requests in flight.")


class Tenant(Settings):
    """One caller: a team, an application, a fleet of agents."""

    name: Name = Field(description="The name in logs and metrics.")
    key: Identifier = Field(description="The name of its API key in the vault; never the key itself.")
    priority: PriorityClass = Field(
        default="interactive", description="Interactive goes before agents, agents before batch."
    )
    limits: Limits = Field(default=Limits(), description="What it may use.")
