"""What a served model's replicas are: all alike, or some that compute prompts and some that answer.

The half that answers keeps the model's name, so that its volumes stay when a model is divided, or made whole again. The
other half is a model of its own to everything but its callers.
"""

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
