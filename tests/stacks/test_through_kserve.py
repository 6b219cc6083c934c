"""What phase 2 registers for a model that the site gives to KServe, and that it registers nothing of it without one."""

import json
from pathlib import Path

from google.protobuf import json_format

from components.llm_d.definitions import definitions
from components.vllm.arguments import command
from components.vllm.timing import startup_s
from rackwright.site import kserve_names
from rackwright.site.priorities import objective
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
SITE = Site.load(ROOT / "tests" / "fixtures" / "valid" / "kserve_rack.yml")
(OURS, _), (THEIRS, SERVING) = SITE.models_in(2)


def test_a_site_that_gives_it_no_model_has_nothing_of_it(lay):
    lab = lay(Site.load(ROOT / "inventory" / "lab"), phase=2)
    assert not [each.name for each in lab.resources if "kserve" in each.name]


def test_names_are_those_that_they_were(rack):
    """A changed name replaces the thing."""
    names = {each.name for each in rack.resources if each.name.startswith("kserve/")}
    assert names == {
        "kserve/kserve",  # namespace's policy
        "kserve/kserve-llmisvc-crd",
        "kserve/kserve-llmisvc-resources",
        "kserve/kserve-config-llm-template",
        "kserve/kserve-config-llm-scheduler",
        "kserve/kserve-pickers",  # a policy and a monitor
        "kserve/kserve-engines",
        f"kserve/{THEIRS.name}",
    }


def test_each_model_has_one_owner(rack):
    assert rack.names("StatefulSet") & {f"models/{OURS.name}", f"models/{THEIRS.name}"} == {f"models/{OURS.name}"}
    assert rack.names("LLMInferenceService") == {f"kserve/{THEIRS.name}"}
    assert rack.names("InferencePool") == {f"router/{OURS.name}"}
    assert f"router/{THEIRS.name}" not in {each.name for each in rack.resources}


def test_definitions_that_both_use_have_one_owner(rack):
    """The chart that would bring them is told not to; whoever uninstalls it takes no pool of the router's."""
    shared = {f"router/{each['metadata']['name']}" for each in definitions()}
    assert rack.names("CustomResourceDefinition") == shared
    told = rack.manifest("kserve/kserve-llmisvc-resources", ":Release")["values"]
    assert told["kserve"]["llmisvc"]["createGIECRDs"] is False


def test_the_controller_starts_when_the_kinds_are_there_that_it_looks_for(rack):
    waits = {urn.rpartition("::")[2] for urn in rack.named("kserve/kserve-llmisvc-resources").dependencies}
    assert {f"router/{each['metadata']['name']}" for each in definitions()} <= waits


def test_what_is_deleted_last_is_what_others_stand_on(rack):
    """A service goes while its controller is there to let it go; definitions of pools go after all pools."""
    waits = {each.name: set(each.dependencies) for each in rack.resources}

    def reached(name: str) -> set[str]:
        seen, todo = set(), [name]
        while todo:
            for urn in waits[todo.pop()]:
                other = urn.rpartition("::")[2]
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    below = reached(f"kserve/{THEIRS.name}")
    assert {"kserve/kserve-llmisvc-crd", "kserve/kserve-llmisvc-resources"} <= below
    assert {"kserve/kserve-config-llm-template", "kserve/kserve-config-llm-scheduler"} <= below
    assert {f"router/{each['metadata']['name']}" for each in definitions()} <= below
    assert {"certificates/rackwright-authority", "models/vllm", "models/hub-hub-token", f"models/{OURS.name}"} <= below


def test_nothing_is_made_in_a_namespace_before_that_is_there(rack):
    waits = {each.name: {urn.rpartition("::")[2] for urn in each.dependencies} for each in rack.resources}
    for each in rack.resources:
        space = json_format.MessageToDict(each.object).get("metadata", {}).get("namespace")
        if each.name.startswith("kserve/") and space == "models":
            assert "models/models" in waits[each.name] | {
                other for name in waits[each.name] for other in waits.get(name, ())
            }, each.name


def test_the_engine_is_told_what_ours_would_be_told(rack):
    spec = rack.manifest(f"kserve/{THEIRS.name}")["spec"]
    (engine,) = spec["template"]["containers"]
    assert engine["command"] == command(THEIRS, SERVING, routed=True, counted=False)
    assert "--scheduling-policy=priority" in engine["command"]
    budget = engine["startupProbe"]["periodSeconds"] * engine["startupProbe"]["failureThreshold"]
    assert budget >= startup_s(THEIRS)
    assert spec["replicas"] == SERVING.replicas
    assert "route" not in spec["router"]
    assert "gateway" not in spec["router"]


def test_the_gateway_asks_its_picker_as_it_asks_ours(rack):
    ways = json.dumps(rack.manifest("gateway/gateway", ":NetworkPolicy")["spec"]["egress"])
    assert '"router"' in ways
    assert '"models"' in ways
    spec = rack.manifest(f"kserve/{THEIRS.name}")["spec"]["router"]["scheduler"]["pool"]["spec"]
    assert spec["endpointPickerRef"]["name"] == kserve_names.picker_service(THEIRS.name)
    objectives = rack.manifest(f"router/{objective(THEIRS.name, 'batch')}")["spec"]
    assert objectives["poolRef"]["name"] == kserve_names.pool(THEIRS.name)


def test_its_pods_are_found_by_what_finds_ours(rack):
    wanted = kserve_names.engine_labels(THEIRS.name)
    assert rack.manifest(f"models/{THEIRS.name}-hub", ":NetworkPolicy")["spec"]["podSelector"]["matchLabels"] == wanted
    assert rack.manifest(f"models/{THEIRS.name}", ":Service")["spec"]["selector"] == wanted
    assert rack.manifest(f"models/{THEIRS.name}", ":PodMonitor")["spec"]["selector"]["matchLabels"] == wanted


def test_a_site_whose_models_are_all_given_away_still_owns_the_kinds(lay):
    models = tuple(
        each.model_copy(update={"phase2": each.phase2.model_copy(update={"through": "kserve"})}) for each in SITE.models
    )
    given = lay(SITE.model_copy(update={"name": "given", "models": models}), phase=2)
    assert given.names("CustomResourceDefinition") == {f"router/{each['metadata']['name']}" for each in definitions()}
    assert given.names("LLMInferenceService") == {f"kserve/{each.name}" for each in models}
    assert "router/llm-d-router" not in given.names("PodMonitor")
    assert not [name for name in given.names("StatefulSet") if name.startswith(("router/", "models/"))]
