"""How requests of phase 2 wait for a replica."""

from pydantic import Field

from rackwright.site.settings import Settings


class Routing(Settings):
    """What the router does when every replica of a model is busy."""

    queue_s: int = Field(
        default=60, ge=1, le=3600, description="The longest wait for a replica, in seconds; then 429. Batch included."
    )
    queue: int = Field(
        default=500, ge=1, le=100_000, description="Requests of one class that may wait for a model; more get 429."
    )
    batch_share: float = Field(
        default=0.5,
        ge=0.1,
        le=0.95,
        description="Share of a model's places that batch may take: the rest is free for whom somebody waits.",
    )
