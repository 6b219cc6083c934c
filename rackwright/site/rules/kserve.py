"""A model whose pods KServe makes."""

from collections.abc import Iterator

from rackwright.site.kserve_names import LONGEST, engines, picker, picker_service, pool
from rackwright.site.models import Model
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.unknown import is_known, look
from rackwright.site.site import Site


def names_through_kserve_are_short(model: Model, place: Place) -> Iterator[Broken]:
    """KServe names objects after the model, and makes a digest of what grows too long: then nobody finds them."""
    if model.phase2.through == "kserve" and len(model.name) > LONGEST:
        yield Broken(
            (*place, "name"),
            f"has {len(model.name)} characters, and is served through kserve, which leaves room for {LONGEST}",
            f"write a name of at most {LONGEST}, or take `through: kserve` out",
        )


def names_through_kserve_are_free(models: tuple[Model, ...]) -> Iterator[Broken]:
    """What KServe makes for one model would be the Service, or the pool, of another that bears that very name."""
    names = [look(model, "name") for model in models]
    given = [name for name, model in zip(names, models, strict=True) if is_known(name) and _is_given(model)]
    made = {make(name): name for name in given for make in (engines, picker, picker_service, pool)}
    for index, name in enumerate(names):
        if is_known(name) and name in made:
            yield Broken(
                ("models", index, "name"),
                f"is {name}, as is what KServe makes for {made[name]}",
                f"give it another name, or take `through: kserve` out of {made[name]}",
            )


def _is_given(model: Model) -> bool:
    served = look(model, "phase2")
    return is_known(served) and look(served, "through") == "kserve"


def larger_replicas_are_our_own(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """Larger replicas are placed before smaller ones, and KServe's pods are made when ours are there."""
    if model.phase2.through != "kserve" or not model.phase2.replicas:
        return
    ours = [each.model for each in site.groups_in(2) if each.serving.through == "llm_d"]
    smaller = [each for each in ours if each.gpus < model.gpus]
    if smaller:
        yield Broken(
            (*place, "phase2", "through"),
            f"is kserve with {model.gpus} GPUs a replica, and {smaller[0].name}, which is not, has {smaller[0].gpus}: "
            "its replicas are there first, and may leave no host with so many free",
            f"give {smaller[0].name} to kserve as well, or take it out here",
        )
