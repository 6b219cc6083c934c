"""The router: how its pickers choose, who waits, and what they may see."""

import json

import pytest
from test_vllm import model

from components.gateway.urgency import OBJECTIVE_HEADER, told
from components.llm_d import objects, pod
from components.llm_d.definitions import definitions
from components.llm_d.picking import API, configuration
from components.vllm.arguments import BLOCK_TOKENS
from components.vllm.arguments import arguments as engine_arguments
from components.vllm.pod import labels
from rackwright.site.catalog import Image
from rackwright.site.routing import Routing
from rackwright.site.serving import Serving

IMAGE = Image(repository="picker", tag="x")
RECURRENT = "Qwen/Qwen3-Next-80B-A3B"


def made(routing=Routing(), **changes):  # noqa: B008 - frozen
    return configuration(model(**changes), routing)


def plugin(found, kind) -> dict:
    (one,) = [each for each in found["plugins"] if each["type"] == kind]
    return one.get("parameters", {})


def kinds(found) -> list[str]:
    """What chooses, in its order."""
    named = {each.get("name", each["type"]): each["type"] for each in found["plugins"]}
    return [named[each["pluginRef"]] for each in found["schedulingProfiles"][0]["plugins"]]


def weights(found) -> dict[str, int]:
    (profile,) = found["schedulingProfiles"]
    return {each["pluginRef"]: each["weight"] for each in profile["plugins"] if "weight" in each}


def chosen_by(found, profile) -> list[str]:
    (one,) = [each for each in found["schedulingProfiles"] if each["name"] == profile]
    return [each["pluginRef"] for each in one["plugins"]]


@pytest.fixture
def divided():
    """What the picker of a divided model is told."""
    parts = {"replicas": 4, "disaggregation": {"prefill": 1, "decode": 3}}
    return configuration(model(sequences=128, phase2=parts), Routing(), 474)


def test_who_answers_is_chosen_first_and_who_computes_by_what_that_one_lacks(divided, catalog):
    assert {each["type"] for each in divided["plugins"]} <= set(catalog.router.plugins)
    named = [each.get("name", each["type"]) for each in divided["plugins"]]
    assert len(named) == len(set(named))
    for each in divided["schedulingProfiles"]:
        assert {one["pluginRef"] for one in each["plugins"]} <= set(named)
    assert plugin(divided, "prefix-based-pd-decider") == {"nonCachedTokens": 474}
    deciders = plugin(divided, "disagg-profile-handler")["deciders"]
    assert deciders == {"prefill": "prefix-based-pd-decider"}
    assert named.index("prefix-based-pd-decider") < named.index("disagg-profile-handler")  # it looks for it at once


def test_each_half_is_chosen_from_its_own(divided):
    weighed = ["prefix-cache-scorer", "active-request-scorer", "max-score-picker"]
    assert chosen_by(divided, "prefill") == ["alive", "prefill-filter", *weighed]
    # The other way round, full caches of all that answer would leave nobody, and be said as 429.
    assert chosen_by(divided, "decode") == ["decode-filter", "alive", *weighed]


def test_places_are_those_of_the_replicas_that_answer(divided):
    """The detector takes the number for every replica, those that compute as well."""
    assert plugin(divided, "concurrency-detector")["maxConcurrency"] * 4 == 128 * 3


@pytest.mark.parametrize("architecture", ["Qwen/Qwen3-32B", RECURRENT])
def test_every_name_is_one_that_is_there_and_known_to_the_pinned_router(catalog, architecture):
    found = made(architecture=architecture)
    router = catalog.router
    assert found["apiVersion"] == API == router.configuration_api
    named = [each.get("name", each["type"]) for each in found["plugins"]]
    assert len(named) == len(set(named))
    assert {each["type"] for each in found["plugins"]} <= set(router.plugins)
    used = {each["pluginRef"] for each in found["schedulingProfiles"][0]["plugins"]}
    waiting = found["flowControl"]
    used |= {waiting["saturationDetector"]["pluginRef"], waiting["usageLimitPolicyPluginRef"]}
    used |= {band[key] for band in waiting["priorityBands"] for key in ("fairnessPolicyRef", "orderingPolicyRef")}
    assert used <= set(named)


def test_the_dead_are_left_out_before_anything_is_weighed():
    for architecture in ("Qwen/Qwen3-32B", RECURRENT):
        found = made(architecture=architecture)
        assert kinds(found)[0] == "utilization-detector"
        assert plugin(found, "utilization-detector")["metricsStalenessThreshold"] == "1s"


def test_prefixes_weigh_more_than_load_but_for_models_that_seldom_find_one():
    plain, recurrent = made(), made(architecture=RECURRENT)
    assert weights(plain) == {"prefix-cache-scorer": 3, "active-request-scorer": 2}
    assert plugin(plain, "approx-prefix-cache-producer")["maxPrefixTokensToMatch"] == model().context_length
    assert not [each for each in recurrent["plugins"] if "prefix" in each["type"]]
    assert kinds(recurrent) == ["utilization-detector", "active-request-scorer", "max-score-picker"]


def test_the_picker_takes_the_engine_s_word_for_its_cache():
    """It reads the number of blocks, and takes each for 64 tokens at the least."""
    assert plugin(made(), "approx-prefix-cache-producer")["autoTune"] is True
    assert BLOCK_TOKENS >= 64
    assert f"--block-size={BLOCK_TOKENS}" in engine_arguments(model(), Serving(replicas=2), routed=True)


def test_each_class_has_its_queue_and_the_urgent_one_goes_first():
    found = made(Routing(queue_s=30, queue=7, batch_share=0.6), sequences=48)
    waiting = found["flowControl"]
    assert found["featureGates"] == ["flowControl"]
    assert waiting["defaultRequestTTL"] == "30s"
    assert [band["priority"] for band in waiting["priorityBands"]] == [10, 0, -10]
    assert {band["maxRequests"] for band in waiting["priorityBands"]} == {"7"}
    assert plugin(found, "concurrency-detector")["maxConcurrency"] == 48
    assert plugin(found, "priority-holdback-policy") == {"minCeiling": 0.6}
    assert "--allow-experimental-plugins=true" in pod.arguments(model(), "models")


def test_objectives_are_those_that_the_gateway_names():
    found = {each["metadata"]["name"]: each["spec"] for each in objects.objectives(model())}
    (mutation,) = [
        each["append"]["header"]["value"]
        for each in told("m", picked=True, by_priority=True).popitem()[1]["mutations"]["request_mutations"]
        if each.get("append", {}).get("header", {}).get("key") == OBJECTIVE_HEADER
    ]
    named = {mutation.replace("%REQ(x-rackwright-class)%", each) for each in ("interactive", "agents", "batch")}
    assert set(found) == named
    assert found["m-interactive"]["priority"] > found["m-agents"]["priority"] > found["m-batch"]["priority"]
    assert {each["poolRef"]["name"] for each in found.values()} == {"m"}


def test_a_pool_holds_the_engines_of_its_model_and_no_others():
    spec = objects.pool(model(), selector=labels(model()), port=8000)["spec"]
    assert spec["selector"]["matchLabels"] == labels(model())
    assert spec["targetPorts"] == [{"number": 8000}]


def test_pickers_have_names_that_last_and_the_proxy_knows_them():
    manifest = pod.stateful_set(model(), image=IMAGE, configuration=made(), engines_in="models")
    spec = manifest["spec"]
    assert objects.pickers(model(), "router") == [
        f"m-{number}.m.router.svc.cluster.local:9002" for number in range(spec["replicas"])
    ]
    assert spec["serviceName"] == objects.service(model())["metadata"]["name"]
    assert spec["replicas"] == 2
    assert objects.budget(model())["spec"]["minAvailable"] == 1


def test_pickers_stand_apart_where_there_is_more_than_one_node_for_them():
    """A node that is kept for others is none: counted, it would leave the second picker of a small rack waiting."""
    manifest = pod.stateful_set(model(), image=IMAGE, configuration=made(), engines_in="models")
    (spread,) = manifest["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert spread["whenUnsatisfiable"] == "DoNotSchedule"
    assert spread["nodeTaintsPolicy"] == "Honor"


def test_a_changed_configuration_is_read_by_new_pods():
    def digest(**changes):
        told_so = made(**changes)
        manifest = pod.stateful_set(model(), image=IMAGE, configuration=told_so, engines_in="models")
        return manifest["spec"]["template"]["metadata"]["annotations"]["rackwright/configuration"]

    assert digest() == digest()
    assert digest() != digest(sequences=7)
    assert json.loads(objects.settings(model(), made())["data"][objects.FILE]) == made()


def test_pickers_read_and_write_nothing():
    verbs = {verb for rule in objects.role()["rules"] for verb in rule["verbs"]}
    assert verbs == {"get", "list", "watch"}
    (subject,) = objects.binding("router")["subjects"]
    assert subject["namespace"] == "router"


def walk(ours: dict, theirs: dict, path: str = ""):
    """Where our schema takes something that upstream's does not know, or calls by another type."""
    if ours["type"] != theirs["type"]:
        yield path
    for name, each in ours.get("properties", {}).items():
        if name not in theirs["properties"]:
            yield f"{path}.{name}"
        else:
            yield from walk(each, theirs["properties"][name], f"{path}.{name}")
    if "items" in ours:
        yield from walk(ours["items"], theirs["items"], f"{path}[]")
    if set(theirs.get("required", [])) - set(ours.get("required", [])) and path.startswith(".spec"):
        yield f"{path}: required"


def test_what_our_kinds_take_upstream_s_take_too(upstream):
    yaml = pytest.importorskip("yaml")
    files = [
        upstream / "crds/gateway-api-inference-extension/inference.networking.k8s.io_inferencepools.yaml",
        upstream / "crds/llm-d-router/llm-d.ai_inferenceobjectives.yaml",
    ]
    for ours, file in zip(definitions(), files, strict=True):
        theirs = yaml.safe_load(file.read_text())
        assert ours["metadata"]["name"] == theirs["metadata"]["name"]
        mine, other = ours["spec"], theirs["spec"]
        assert (mine["group"], mine["scope"]) == (other["group"], other["scope"])
        assert mine["names"]["kind"] == other["names"]["kind"]
        (version,) = mine["versions"]
        same = [each for each in other["versions"] if each["name"] == version["name"]]
        schemas = [each["schema"]["openAPIV3Schema"]["properties"]["spec"] for each in (version, same[0])]
        assert list(walk(*schemas, ".spec")) == []
