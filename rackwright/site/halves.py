"""What a served model's replicas are: all alike, or some that compute prompts and some that answer; on how many hosts.

The half that answers keeps the model's name, so that its volumes stay when a model is divided, or made whole again. The
other half is a model of its own to everything but its callers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rackwright.site.models import Model
from rackwright.site.serving import Serving

Half = Literal["prefill", "decode"]


@dataclass(frozen=True)
class Group:
    """Replicas that are alike: the model under the name of their objects and figures, and as they are served."""

    model: Model
    serving: Serving
    served: str  # the name by which requests ask for it
    half: Half | None = None
    hosts: int = 1  # that a replica takes GPUs of

    @property
    def part(self) -> Model:
        """What one of a replica's hosts holds, as a model of so many stages; the whole where that is one host."""
        stages = self.model.pipeline_parallel // self.hosts
        return self.model.model_copy(update={"pipeline_parallel": stages}) if self.hosts > 1 else self.model


def groups(model: Model, serving: Serving) -> tuple[Group, ...]:
    """The replicas of a model, those that answer first."""
    divided = serving.disaggregation
    if divided is None:
        return (Group(model, serving, model.name),)
    split = divided.prefill_tensor_parallel or model.tensor_parallel
    beside = model.model_copy(update={"name": prefill_name(model.name), "tensor_parallel": split})
    return (
        Group(model, serving.model_copy(update={"replicas": divided.decode}), model.name, "decode"),
        Group(beside, serving.model_copy(update={"replicas": divided.prefill}), model.name, "prefill"),
    )


def prefill_name(model: str) -> str:
    """What the half of a model that computes prompts is called."""
    return f"{model}-prefill"


def hosts_of_a_replica(model: Model, rooms: Sequence[int]) -> int | None:
    """How many hosts a replica takes, as few as may be: whole stages on each, as many on one as on another.

    `rooms` are the GPUs that each host offers; None where they cannot hold one.
    """
    for hosts in range(1, model.pipeline_parallel + 1):
        each = model.gpus // hosts
        if model.pipeline_parallel % hosts == 0 and sum(room >= each for room in rooms) >= hosts:
            return hosts
    return None
