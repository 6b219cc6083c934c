"""What a job that trains must be like, and how many there may be."""

from components.base import Manifest
from components.base.admission import Demand, placed, ranked
from rackwright.site.training import Training

RANK = "rackwright-training"


def of_pods() -> list[Demand]:
    """On training's hosts, at a rank that takes nobody's place: inference is never put out."""
    return [*placed("training", tolerating=["nvidia.com/gpu"]), ranked(RANK)]


def quota(training: Training) -> Manifest:
    """How many jobs may run or wait.

    GPUs are not summed up: pods that wait count in a quota, and only hosts for training take them.
    """
    hard = {"count/jobs.batch": str(training.waiting)}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "jobs"}, "spec": {"hard": hard}}
