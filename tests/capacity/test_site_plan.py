"""A site reckoned: every sample, in words and as data, quickly."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.capacity.compare_text import compare_data, compare_text
from rackwright.capacity.demand import demand, population
from rackwright.capacity.plan_text import plan_data, plan_text
from rackwright.capacity.site_plan import plan, replica_in, ways_for
from rackwright.capacity.sizing import size
from rackwright.capacity.timing import Timing
from rackwright.errors import Refusal
from rackwright.site.site import Site
from rackwright.site.workload import Targets, Workload

INVENTORY = Path(__file__).resolve().parents[2] / "inventory"


@pytest.fixture(scope="module")
def lab():
    return Site.load(INVENTORY / "lab")


def with_load(site, **changes):
    return site.model_copy(update={"workload": site.workload.model_copy(update=changes)})


@pytest.mark.parametrize("name", ["example", "lab", "workstation"])
def test_every_sample_is_planned(name):
    site = Site.load(INVENTORY / name)
    phases = plan(site)
    data = json.loads(json.dumps(plan_data(site, phases), allow_nan=False))
    text = plan_text(site, phases)
    assert [each["phase"] for each in data["phases"]] == list(site.phases)
    for phase in data["phases"]:
        assert phase["gpus_needed"] <= phase["gpus"]
        for model in phase["models"]:
            assert (
                model["steady"]["ttft_ms"]["low"]
                < model["steady"]["ttft_ms"]["mean"]
                < model["steady"]["ttft_ms"]["high"]
            )
            assert model["replicas_needed"] >= 1
            assert model["assumed"]["gpu-memory-utilization"]
            assert f"  {model['model']}: carries" in text
    assert "Ranges: nine of ten runs" in text


def test_agents_are_shown_as_chat_sessions(lab):
    site = with_load(lab, users=0, agents=20)
    assert plan_data(site, ())["chat_sessions"] == {"least": 60, "most": 1000}


def test_formulas_answer_in_a_second_and_tails_in_five(lab):
    began = time.process_time()
    plan(lab)
    formulas = time.process_time() - began
    plan(lab, with_tails=True)
    assert formulas < 1
    assert time.process_time() - began - formulas < 5


def test_tails_are_those_of_people_and_of_whole_actions(lab):
    site = with_load(lab, users=20, agents=10)
    models = plan_data(site, plan(site, with_tails=True))["phases"][0]["models"]
    for model in models:
        assert model["tails"]["agents"]["action_ms"]["p95"] > model["tails"]["agents"]["end_to_end_ms"]["p95"]
        assert model["tails"]["users"]["ttft_ms"]["p50"] < model["tails"]["users"]["ttft_ms"]["p99"]


def test_more_agents_need_more_gpus_and_at_last_do_not_fit(lab):
    needed = [plan(with_load(lab, agents=agents))[0].gpus_needed for agents in (10, 200, 2000)]
    assert needed == sorted(needed)
    assert needed[-1] > 8
    crowded = plan(with_load(lab, agents=2000))[0].models[0].sized
    assert crowded.carries < 1


def test_what_it_carries_is_where_it_breaks(lab):
    model, serving = lab.models_in(1)[0]
    timing = Timing(replica_in(lab, 1, model))
    who = population(lab.workload, 0.5, model.context_length)
    found = size(timing, who, lab.targets, serving.replicas)
    grown = population(lab.workload.model_copy(update={"users": 4000, "agents": 2000}), 0.5, model.context_length)
    assert found.gives_way
    assert size(timing, grown, lab.targets, 1).carries == pytest.approx(found.carries * 120 / 4000, rel=0.15)


def test_targets_that_no_call_meets_are_said_so(lab):
    strict = lab.model_copy(update={"targets": lab.targets.model_copy(update={"tpot_p95_ms": 0.5})})
    phases = plan(strict)
    assert phases[0].gpus_needed is None
    assert "no number of replicas meets the targets" in plan_text(strict, phases)


def test_shares_divide_the_load(lab):
    phases = plan(lab, shares={"llama-70b": 0.9})
    loads = {each.model.name: each.sized.load.calls * each.sized.replicas for each in phases[0].models}
    assert loads["llama-70b"] == pytest.approx(9 * loads["qwen3-32b"], rel=0.05)
    for shares in ({"nobody": 0.5}, {"llama-70b": 1.5}, {"llama-70b": -0.1}):
        with pytest.raises(Refusal):
            plan(lab, shares=shares)


def test_a_site_without_a_load_is_refused(lab):
    with pytest.raises(Refusal, match="no users and no agents"):
        plan(with_load(lab, users=0, agents=0))


def test_a_cache_that_is_too_small_makes_prompts_new_again(lab):
    model, _ = lab.models_in(1)[0]
    replica = replica_in(lab, 1, model)
    asked = demand(population(lab.workload, 1.0, model.context_length))
    assert asked.on(replica, 1).cached > 0.4 * asked.prompt
    crowd = demand(population(lab.workload.model_copy(update={"agents": 5000}), 1.0, model.context_length))
    assert crowd.on(replica, 1).cached < 0.1 * crowd.prompt


def test_every_need_has_its_reason(lab):
    for phase in plan(lab):
        assert {need.what for need in phase.needs} >= {"drives for models", "connections to PostgreSQL"}
        assert all(need.why for need in phase.needs)


def test_ways_are_compared_and_the_frontier_is_the_best_of_them(lab):
    ways, out = ways_for(lab, "llama-70b", ["h100_sxm", "b200_sxm", "l40s"], ["bfloat16", "fp8"], 1.0)
    best = [way for way in ways if way.on_frontier]
    assert best
    assert min(way.gpus for way in ways) == min(way.gpus for way in best)
    assert all("does not fit" in each.why or "longest that fits" in each.why or "missed" in each.why for each in out)
    json.dumps(compare_data(ways, out), allow_nan=False)
    assert "on the frontier" in compare_text(ways, out)
    for arguments in (("nobody", [], []), (None, ["h1000"], []), (None, [], ["fp3"])):
        with pytest.raises(Refusal):
            ways_for(lab, *arguments, 1.0)


workloads = st.fixed_dictionaries(
    {},
    optional={
        "users": st.integers(0, 10**7),
        "agents": st.integers(0, 10**7),
        "actions_per_hour": st.floats(1e-6, 100_000),
        "calls_per_action": st.floats(1, 1000),
        "prompt_tokens": st.integers(1, 10**7),
        "output_tokens": st.integers(1, 10**6),
        "pattern": st.sampled_from(("react", "planner", "tracelab")),
        "growth_tokens": st.integers(0, 10**6),
        "fan_out": st.floats(1, 100),
        "tool_s": st.floats(0, 86_400),
    },
)

milliseconds = st.floats(0.001, 3_600_000)


@settings(max_examples=25)
@given(changes=workloads, ttft=milliseconds, tpot=milliseconds)
def test_any_workload_is_planned_or_refused(lab, changes, ttft, tpot):
    workload = Workload(**{**lab.workload.model_dump(), **changes})
    targets = Targets(ttft_p95_ms=ttft, tpot_p95_ms=tpot)
    site = lab.model_copy(update={"workload": workload, "targets": targets})
    try:
        phases = plan(site)
    except Refusal:
        assert workload.users + workload.agents == 0
        return
    json.dumps(plan_data(site, phases), allow_nan=False)
    assert plan_text(site, phases)


def test_a_busy_site_is_watched_for_a_part_of_an_hour(lab):
    big = with_load(lab, users=20_000, agents=0, actions_per_hour=3, prompt_tokens=50, output_tokens=5)
    began = time.process_time()
    models = plan(big, with_tails=True)[1].models
    assert time.process_time() - began < 8
    assert all(each.hour is None or len(each.hour.calls) < 12_000 for each in models)


def test_a_replica_on_several_hosts_says_what_the_network_between_them_carries():
    site = Site.load(INVENTORY.parent / "tests" / "fixtures" / "valid" / "spanning.yml")
    phases = plan(site)
    found = {each.model.name: each.between for each in phases[0].models}
    assert found["qwen3-32b"] is None
    between = found["deepseek-v3"]
    assert (between.hosts, between.gbps, between.by_rdma) == (2, 100, True)
    assert between.handed_on_per_s > between.computed_per_s
    assert "a replica takes 2 hosts" in plan_text(site, phases)
