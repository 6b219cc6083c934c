"""What is served, under which names and in which manner."""

from collections.abc import Iterator

from rackwright.site.catalog import Catalog
from rackwright.site.halves import prefill_name
from rackwright.site.hosts import Phase
from rackwright.site.models import Model
from rackwright.site.reading.faults import Place, spell
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.nearest import nearest
from rackwright.site.reading.repeats import Entry, repeats
from rackwright.site.reading.shown import shown
from rackwright.site.reading.unknown import is_known, look
from rackwright.site.serving import Serving
from rackwright.site.site import Site

NAME_OF_A_SET = 52  # of a longer one the label with its revision passes 63 characters, and no pod is ever made
PATHS = frozenset({"v1", "health", "healthz", "metrics", "ready"})  # the gateway's own, beside /<model>/v1


def models_are_served_somewhere(model: Model, place: Place) -> Iterator[Broken]:
    """A model without replicas is a line that does nothing."""
    if not model.phase1.replicas and not model.phase2.replicas:
        what = "has no replicas in either phase"
        yield Broken(place, what, "write `phase1: {replicas: 1}` or `phase2: {replicas: 1}`, or take the model out")


def models_are_served_in_phases_that_exist(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """Replicas want a cluster."""
    for name, phase, serving in _both(model):
        if serving.replicas and site.phases and phase not in site.phases:
            yield Broken(
                (*place, name, "replicas"),
                f"is {serving.replicas}, and the site has no clusters.{name}",
                f"describe that cluster, or take {name} out here",
            )


def phases_serve_something(site: Site, phase: Phase) -> Iterator[Broken]:
    """A phase in which no model is served answers nobody."""
    if site.hosts_in(phase) and not site.models_in(phase):
        yield Broken(
            ("models",), f"serve nothing in phase {phase}", f"write `phase{phase}: {{replicas: 1}}` at one of them"
        )


def first_phase_is_plain(model: Model, place: Place) -> Iterator[Broken]:
    """In phase 1 a model is a Deployment that serves first come, first served."""
    found = (
        ("priority", model.phase1.priority, "true", "requests are served first come, first served"),
        ("through", model.phase1.through != "llm_d", model.phase1.through, "no router and no KServe run"),
        ("disaggregation", model.phase1.disaggregation is not None, "set", "one server cannot keep prefill apart"),
    )
    for key, is_on, said, reason in found:
        if is_on:
            yield Broken(
                (*place, "phase1", key), f"is {said}, and in phase 1 {reason}", "take it out here; phase2 may have it"
            )


def names_of_models_are_unique(models: tuple[Model, ...]) -> Iterator[Broken]:
    """A tenant names a model or an adapter by one name."""
    for place, name, first in repeats(_names(models)):
        yield Broken(place, f"is {name}, as {spell(first)} is", "give each model and each adapter a name of its own")


def names_of_models_are_free(model: Model, place: Place) -> Iterator[Broken]:
    """The gateway has paths of its own."""
    if model.name in PATHS:
        what = f"is {model.name}, a path of the gateway's own"
        yield Broken((*place, "name"), what, f"name it otherwise, for example model-{model.name}")


def names_of_models_name_their_pods(model: Model, place: Place) -> Iterator[Broken]:
    """In phase 2 replicas and pickers are pods of a StatefulSet, which puts its name and ten digits into a label."""
    served = model.phase2
    if not served.replicas or served.through != "llm_d":
        return
    longest = prefill_name(model.name) if served.disaggregation is not None else model.name
    if len(longest) > NAME_OF_A_SET:
        beside = "" if longest == model.name else f", and its half that computes prompts {longest!r}, {len(longest)}"
        yield Broken(
            (*place, "name"),
            f"has {len(model.name)} characters{beside}; the name of a StatefulSet has room for {NAME_OF_A_SET}",
            f"write a name of at most {NAME_OF_A_SET - len(longest) + len(model.name)}",
        )


def parsers_are_known(model: Model, place: Place, catalog: Catalog) -> Iterator[Broken]:
    """The engine ends at start when it is told a parser that it does not know."""
    for key, known in (
        ("tool_call_parser", catalog.engine.tool_call_parsers),
        ("reasoning_parser", catalog.engine.reasoning_parsers),
    ):
        parser = look(model, key)
        if is_known(parser) and parser is not None and parser not in known:
            yield Broken(
                (*place, key),
                f"is {shown(parser)}, which vLLM {catalog.engine.version} does not know",
                nearest(parser, known),
            )


def _both(model: Model) -> tuple[tuple[str, Phase, Serving], ...]:
    return (("phase1", 1, model.phase1), ("phase2", 2, model.phase2))


def _names(models: tuple[Model, ...]) -> Iterator[Entry]:
    for index, model in enumerate(models):
        yield ("models", index, "name"), look(model, "name")
        served = look(model, "phase2")
        if is_known(served) and is_known(served.disaggregation) and served.disaggregation is not None:
            name = look(model, "name")
            yield ("models", index, "phase2", "disaggregation"), prefill_name(name) if is_known(name) else name
        lora = look(model, "lora")
        adapters = look(lora, "adapters") if lora is not None else ()
        for inner, adapter in enumerate(adapters if is_known(adapters) else ()):
            yield ("models", index, "lora", "adapters", inner, "name"), look(adapter, "name")
