"""What phase 2 lays where the site gives a model to KServe, and nothing where it gives it none."""

from collections.abc import Sequence

from components.kserve import Kserve
from components.llm_d import Router
from components.vllm import Vllm
from rackwright.site.kserve_names import engine_labels, pool
from rackwright.site.models import Model
from rackwright.site.serving import Serving
from stacks.foundation import Foundation
from stacks.given import Given

Served = Sequence[tuple[Model, Serving]]


def through_kserve(served: Served) -> Served:
    """Models whose pods KServe makes."""
    return [(model, serving) for model, serving in served if serving.through == "kserve"]


def their_pods(served: Served) -> dict[str, dict[str, str]]:
    """Labels of their engines, by model."""
    return {model.name: engine_labels(model.name) for model, _ in through_kserve(served)}


def their_pools(served: Served) -> dict[str, str]:
    """Names of their pools, by model."""
    return {model.name: pool(model.name) for model, _ in through_kserve(served)}


def kserve(given: Given, ground: Foundation, served: Served, models: Vllm, router: Router) -> dict[str, list[str]]:
    """Register it; where the pickers that it makes are asked, by model."""
    theirs = through_kserve(served)
    if not theirs:
        return {}
    made = Kserve(
        "kserve",
        theirs,
        charts=given.charts,
        engines=models.lent,
        pickers=router.lent,
        engines_in=models.name,
        beside=models.namespace,
        after=models.lent_after,
        kinds=router.kinds,
        caller="gateway",
        to_api=given.to_api,
        issuers=ground.certificates.issuer,
        **ground.watched,
        opts=given.options,
    )
    return made.pickers
