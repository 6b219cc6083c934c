"""A model whose pods another component makes: what it makes them of, decided as for our own."""

from collections.abc import Sequence
from typing import Any

from components.base import Manifest
from components.base.network import policy, to_object_storage, to_outside
from components.vllm.arguments import command
from components.vllm.pod import engine, template, wish
from components.vllm.spread import placement
from components.vllm.weights import OBJECT_STORAGE, Container, origins
from rackwright.site.catalog import Image
from rackwright.site.gpu import Gpu
from rackwright.site.models import Model
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.serving import Serving
from rackwright.site.storage_classes import storage_class

MAIN = "main"  # the container that a maker of pods looks for


def lent(
    model: Model,
    serving: Serving,
    *,
    image: Image,
    before: list[Container],
    gpu: Gpu,
    pods: dict[str, str],
    counted: bool = False,
) -> dict[str, Any]:
    """The specification of a replica's pod; `pods` are the labels that its maker gives it.

    Its volume lives as long as it does: a claim of its own name is what only a StatefulSet gives. So its weights come
    anew with each pod, and it is bound to no host.
    """
    served_by = engine(model, command(model, serving, routed=True, counted=counted), image, gpu)
    made: dict[str, Any] = template(model, before, served_by | {"name": MAIN})["spec"]
    claimed = "models"  # the name by which the containers mount it
    kept = {"name": claimed, "ephemeral": {"volumeClaimTemplate": {"spec": wish(model, storage_class("models"))}}}
    volumes = [kept, *(volume for volume in made["volumes"] if volume["name"] != claimed)]
    return made | placement(model, pods) | {"volumes": volumes}


def ways_of(
    model: Model, store: ObjectStorage | None, inside: Sequence[str], *, pods: dict[str, str]
) -> list[Manifest]:
    """Where these pods may go for weights: told by their maker's labels, since no others can be changed on its pods."""
    ways = []
    if "hub" in origins(model):
        ways.append(policy(f"{model.name}-hub", egress=[to_outside(inside, 443)], pods=pods))
    if store and "s3" in origins(model):
        ways.append(policy(f"{model.name}-{OBJECT_STORAGE}", egress=[to_object_storage(store)], pods=pods))
    return ways
