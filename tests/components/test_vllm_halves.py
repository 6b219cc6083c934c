"""A model whose prompts are computed apart: what each half is told, who may reach whom, and what a half is called."""

import json
from pathlib import Path

import pytest
from test_vllm import known, model

from components.vllm.arguments import PORT
from components.vllm.halves import (
    ENGINE_PORT,
    MODEL,
    ROLE,
    SIDE_PORT,
    door_arguments,
    halved,
    pool_labels,
    ways_between,
)
from components.vllm.pod import labels, service
from components.vllm.spread import stateful_set
from components.vllm.weights import containers
from rackwright.site.halves import groups
from rackwright.site.rdma_ports import RESOURCE
from rackwright.site.site import Site

HERE = Path(__file__).parent
DIVIDED = {"phase2": {"replicas": 4, "priority": True, "disaggregation": {"prefill": 1, "decode": 3}}}


@pytest.fixture(scope="module")
def rack():
    return Site.load(HERE.parents[1] / "tests" / "fixtures" / "valid" / "divided.yml")


@pytest.fixture
def sets(rack, catalog):
    """Every group's set, by its name."""
    images = {"engine": catalog.images["vllm"], "rclone": catalog.images["rclone"]}
    return {
        each.model.name: halved(
            stateful_set(
                each.model, each.serving, image=catalog.images["vllm"], gpu=rack.gpu, counted=True,
                before=containers(each.model, **images, object_storage=rack.object_storage),
            ),
            each,
            door=catalog.images["llm-d-disagg-sidecar"],
            network="10.0.1.0/24",
        )
        for each in rack.groups_in(2)
    }  # fmt: skip


def engine(manifest) -> dict:
    (found,) = manifest["spec"]["template"]["spec"]["containers"]
    return found


def told(manifest) -> dict:
    (word,) = [each for each in engine(manifest)["command"] if each.startswith("--kv-transfer-config=")]
    return json.loads(word.partition("=")[2])


def test_the_half_that_answers_keeps_the_name_of_the_whole(sets):
    assert list(sets) == ["llama-70b", "llama-70b-prefill", "qwen3-32b", "qwen3-32b-prefill", "mistral-24b"]
    assert [each["spec"]["replicas"] for each in sets.values()] == [3, 1, 1, 2, 2]


def test_a_whole_model_is_left_as_it_is(sets):
    assert ROLE not in sets["mistral-24b"]["spec"]["template"]["metadata"]["labels"]
    assert not [word for word in engine(sets["mistral-24b"])["command"] if "kv-transfer" in word]


def test_the_pinned_engine_knows_every_flag_and_variable_of_a_half(sets):
    flags, variables = known("vllm_v0_30_0_flags.txt"), known("vllm_v0_30_0_variables.txt")
    for manifest in sets.values():
        words = engine(manifest)["command"]
        assert {word.split("=")[0] for word in words if word.startswith("--")} <= flags
        named = {each["name"] for each in engine(manifest)["env"] if each["name"].startswith("VLLM_")}
        assert named <= variables


def test_one_half_gives_caches_and_the_other_takes_them(sets):
    assert told(sets["llama-70b-prefill"])["kv_role"] == "kv_producer"
    assert told(sets["llama-70b"])["kv_role"] == "kv_consumer"
    assert {told(each)["kv_connector"] for name, each in sets.items() if name != "mistral-24b"} == {"NixlConnector"}


def test_what_could_not_be_read_is_computed_and_not_refused(sets):
    assert told(sets["llama-70b"])["kv_load_failure_policy"] == "recompute"


def test_both_halves_are_asked_by_one_name_and_show_figures_under_their_own(sets):
    for name, served in (("llama-70b", ["llama-70b"]), ("llama-70b-prefill", ["llama-70b-prefill", "llama-70b"])):
        words = engine(sets[name])["command"]
        place = words.index("--served-model-name")
        assert words[place + 1 : place + 1 + len(served)] == served
        assert words[place + 1 + len(served)].startswith("--")


def test_both_halves_run_the_urgent_first(sets):
    for name in ("llama-70b", "llama-70b-prefill"):
        assert "--scheduling-policy=priority" in engine(sets[name])["command"]


def test_each_half_has_its_own_number_of_gpus(sets):
    found = {name: engine(each)["resources"]["limits"]["nvidia.com/gpu"] for name, each in sets.items()}
    assert (found["qwen3-32b"], found["qwen3-32b-prefill"]) == ("2", "1")
    assert "--tensor-parallel-size=1" in engine(sets["qwen3-32b-prefill"])["command"]


def test_caches_move_by_rdma_or_not_at_all(sets):
    for name in ("llama-70b", "llama-70b-prefill"):
        container = engine(sets[name])
        assert container["resources"]["limits"][RESOURCE] == container["resources"]["requests"][RESOURCE] == "1"
        variables = {each["name"]: each.get("value") for each in container["env"]}
        assert "tcp" not in variables["UCX_TLS"]
        assert variables["UCX_IB_ROCE_SUBNETS"] == "10.0.1.0/24"
        assert variables["UCX_TLS"].split(",")[0] == "rc"


def test_an_engine_says_its_own_address_to_the_other_half(sets):
    for name in ("llama-70b", "llama-70b-prefill"):
        found = {each["name"]: each for each in engine(sets[name])["env"]}
        assert found["VLLM_NIXL_SIDE_CHANNEL_HOST"]["valueFrom"] == {"fieldRef": {"fieldPath": "status.podIP"}}
        assert found["VLLM_NIXL_SIDE_CHANNEL_PORT"]["value"] == str(SIDE_PORT)


def test_before_those_that_answer_stands_a_door_at_the_port_where_all_are_asked(sets):
    answering = sets["llama-70b"]["spec"]["template"]["spec"]
    door = answering["initContainers"][-1]
    assert door["restartPolicy"] == "Always"  # it starts before the engine and ends after it
    assert door["ports"] == [{"name": "http", "containerPort": PORT}]
    assert set(door_arguments(PORT, ENGINE_PORT)) <= set(door["command"])
    assert f"--port={ENGINE_PORT}" in engine(sets["llama-70b"])["command"]
    computing = sets["llama-70b-prefill"]["spec"]["template"]["spec"]
    assert "door" not in {each["name"] for each in computing["initContainers"]}
    assert f"--port={PORT}" in engine(sets["llama-70b-prefill"])["command"]


def test_an_engine_is_asked_itself_whether_it_is_ready(sets):
    """The door says that it is well while the engine still loads."""
    for name, port in (("llama-70b", ENGINE_PORT), ("llama-70b-prefill", PORT)):
        container = engine(sets[name])
        ports = {each["name"]: each["containerPort"] for each in container["ports"]}
        probes = [each for key, each in container.items() if key.endswith("Probe")]
        assert len(probes) == 3
        assert {ports[each["httpGet"]["port"]] for each in probes} == {port}


def test_the_router_finds_both_halves_and_the_plain_way_leads_to_those_that_answer(sets, rack):
    for each, _ in rack.models_in(2):
        pool, plain = pool_labels(each), service(each)["spec"]["selector"]
        bearing = {name: set(s["spec"]["template"]["metadata"]["labels"].items()) for name, s in sets.items()}
        found = {name for name, marks in bearing.items() if pool.items() <= marks}
        assert found == {group.model.name for group in groups(each, each.phase2)}
        assert {name for name, marks in bearing.items() if plain.items() <= marks} == {each.name}


def test_halves_bear_the_roles_that_the_router_looks_for(sets):
    found = {name: each["spec"]["template"]["metadata"]["labels"] for name, each in sets.items()}
    assert (found["llama-70b"][ROLE], found["llama-70b-prefill"][ROLE]) == ("decode", "prefill")
    assert found["llama-70b-prefill"][MODEL] == "llama-70b"


def test_selectors_of_the_halves_meet_no_pod_of_the_other(sets):
    for name, manifest in sets.items():
        selector = manifest["spec"]["selector"]["matchLabels"]
        for other, pods in sets.items():
            assert (selector.items() <= pods["spec"]["template"]["metadata"]["labels"].items()) == (name == other)


def test_only_those_that_answer_come_to_those_that_compute():
    divided = model(**DIVIDED)
    asks, is_asked = (each["spec"] for each in ways_between(divided))
    answering, computing = (labels(each.model) for each in groups(divided, divided.phase2))
    assert asks["podSelector"]["matchLabels"] == answering
    assert is_asked["podSelector"]["matchLabels"] == computing
    ((outwards,), (inwards,)) = (asks["egress"], is_asked["ingress"])
    assert outwards["to"] == [{"podSelector": {"matchLabels": computing}}]
    assert inwards["from"] == [{"podSelector": {"matchLabels": answering}}]
    for way in (outwards, inwards):
        assert {each["port"] for each in way["ports"]} == {PORT, SIDE_PORT}
    assert "ingress" not in asks
    assert "egress" not in is_asked
    assert ways_between(model()) == []
