"""How a site goes from phase 1 to phase 2: only what nothing else in the file says."""

from typing import Annotated

from pydantic import Field, field_validator

from rackwright.site.settings import Settings

Percent = Annotated[int, Field(ge=1, le=100)]


class Rollout(Settings):
    """The move of data and traffic; which hosts join, and which data there are, follows from the rest of the file."""

    weights: tuple[Percent, ...] = Field(
        default=(1, 10, 50, 100),
        min_length=1,
        description="Percent of sessions that go to phase 2, step by step, up to 100.",
    )
    hold_s: int = Field(
        default=600,
        ge=1,
        le=86_400,
        description="Each step of traffic is watched so long, in seconds, before the next.",
    )
    stand_by_h: int = Field(
        default=24, ge=0, le=24 * 90, description="Hours on phase 2 before phase 1 may be given up for good."
    )
    copies_data: bool = Field(
        default=True,
        description="False: phase 2 begins with empty databases and collections, and phase 1 keeps its own.",
    )

    @field_validator("weights")
    @classmethod
    def _rise_to_all(cls, weights: tuple[int, ...]) -> tuple[int, ...]:
        if list(weights) != sorted(set(weights)):
            raise ValueError(f"is {list(weights)}, which does not rise at each step; write them from small to large")
        if weights[-1] != 100:
            raise ValueError(f"ends with {weights[-1]}, so phase 1 would keep a share for ever; let it end with 100")
        return weights
