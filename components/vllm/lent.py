"""A model whose pods another component makes: what it makes them of, decided as for our own."""

from typing import Any

from components.vllm.arguments import command
from components.vllm.pod import engine, from_origin, template, wish
from components.vllm.spread import placement
from components.vllm.weights import Container, origins
from rackwright.site.catalog import Image
from rackwright.site.gpu import Gpu
from rackwright.site.models import Model
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
    """What a replica's pod is made from; `pods` are the labels that its maker gives it beside these.

    Its volume lives as long as it does: a claim of its own name is what only a StatefulSet gives. So its weights come
    anew with each pod, and it is bound to no host.
    """
    served_by = engine(model, command(model, serving, routed=True, counted=counted), image, gpu)
    made: dict[str, Any] = template(model, before, served_by | {"name": MAIN})["spec"]
    claimed = "models"  # the name by which the containers mount it
    kept = {"name": claimed, "ephemeral": {"volumeClaimTemplate": {"spec": wish(model, storage_class("models"))}}}
    volumes = [kept, *(volume for volume in made["volumes"] if volume["name"] != claimed)]
    spec = made | placement(model, pods) | {"volumes": volumes}
    return {"metadata": {"labels": from_origin(*origins(model))}, "spec": spec}
