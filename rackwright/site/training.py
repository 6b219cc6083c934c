"""Where models are trained: hosts of their own, and what is kept of each run."""

from pydantic import Field

from rackwright.site.agents import WayOut
from rackwright.site.settings import Settings


class Training(Settings):
    """Jobs on hosts with the role training, in phase 2."""

    waiting: int = Field(default=50, ge=1, le=10_000, description="Jobs that run or wait at once; more are refused.")
    lends_gpus: bool = Field(
        default=False,
        description="True: models are served on training hosts too, and jobs get the GPUs that are left.",
    )
    tracking: bool = Field(
        default=False, description="True: MLflow, with the database mlflow and the site's object storage."
    )
    ways_out: tuple[WayOut, ...] = Field(
        default=(), description="What jobs may reach beside names, MLflow and object storage; empty: nothing."
    )
