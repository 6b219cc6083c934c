"""Phase 2 of a site that has prompts of two models computed apart: what is registered for it beside the rest."""

import json
from pathlib import Path

from rackwright.site.moving import usual_move
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
SITE = Site.load(ROOT / "tests" / "fixtures" / "valid" / "divided.yml")


def test_each_half_has_a_set_a_name_a_monitor_and_larger_ones_come_first(rack):
    groups = [each.model for each in SITE.groups_in(2)]
    for kind in ("StatefulSet", "Service", "PodMonitor"):
        assert {f"models/{each.name}" for each in groups} <= rack.names(kind)
    sets = [each.name.removeprefix("models/") for each in rack.resources if each.type.endswith(":StatefulSet")]
    gpus = {each.name: each.gpus for each in groups}
    order = [gpus[name] for name in sets if name in gpus]
    assert order == sorted(order, reverse=True)


def test_clients_and_pickers_know_a_model_by_its_one_name(rack):
    served = {model.name for model, _ in SITE.models_in(2)}
    assert set(rack.outputs["gateway"]["models"]) == served
    pools = {each.removeprefix("router/") for each in rack.names("InferencePool")}
    assert pools == served
    selector = rack.manifest("router/llama-70b", ":InferencePool")["spec"]["selector"]["matchLabels"]
    for half in ("llama-70b", "llama-70b-prefill"):
        pods = rack.manifest(f"models/{half}", ":StatefulSet")["spec"]["template"]["metadata"]["labels"]
        assert selector.items() <= pods.items()


def test_pickers_of_divided_models_alone_choose_twice(rack):
    for model, serving in SITE.models_in(2):
        told = json.loads(rack.manifest(f"router/{model.name}", ":ConfigMap")["data"]["picker.json"])
        profiles = [each["name"] for each in told["schedulingProfiles"]]
        assert profiles == (["prefill", "decode"] if serving.disaggregation else ["default"])
        found = [each["parameters"] for each in told["plugins"] if each["type"] == "prefix-based-pd-decider"]
        move = usual_move(model, SITE)
        assert found == ([{"nonCachedTokens": move.least_tokens}] if move else [])


def test_ways_lead_from_those_that_answer_to_those_that_compute(rack):
    between = {each for each in rack.names("NetworkPolicy") if "ask" in each}
    assert between == {f"models/{name}-{way}" for name in ("llama-70b", "qwen3-32b") for way in ("asks", "is-asked")}
    (way,) = rack.manifest("models/llama-70b-is-asked", ":NetworkPolicy")["spec"]["ingress"]
    pods = rack.manifest("models/llama-70b", ":StatefulSet")["spec"]["template"]["metadata"]["labels"]
    assert way["from"][0]["podSelector"]["matchLabels"].items() <= pods.items()


def test_ports_are_handed_out_only_where_caches_move(rack, lay):
    assert "rdma/rdma-ports" in rack.names("DaemonSet")
    whole = tuple(
        each.model_copy(update={"phase2": each.phase2.model_copy(update={"disaggregation": None})})
        for each in SITE.models
    )
    undivided = lay(SITE.model_copy(update={"name": "whole", "models": whole}), phase=2)
    assert "rdma/rdma-ports" not in undivided.names("DaemonSet")


def test_both_halves_take_their_port_s_address_on_the_storage_network(rack):
    for name in ("llama-70b", "llama-70b-prefill"):
        (engine,) = rack.manifest(f"models/{name}", ":StatefulSet")["spec"]["template"]["spec"]["containers"]
        told = {each["name"]: each.get("value") for each in engine["env"]}
        assert told["UCX_IB_ROCE_SUBNETS"] == str(SITE.networks.storage.cidr)


def test_a_budget_is_each_half_s_own(rack):
    for name in rack.names("PodDisruptionBudget") & {f"models/{each.model.name}" for each in SITE.groups_in(2)}:
        selector = rack.manifest(name, ":PodDisruptionBudget")["spec"]["selector"]["matchLabels"]
        assert selector["app.kubernetes.io/instance"] == name.removeprefix("models/")
