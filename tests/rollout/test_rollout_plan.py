"""The plan: pure, whole, and derived from the site."""

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from played_world import ROOT, lab
from site_strategies import sites

from rackwright.errors import Refusal
from rackwright.rollout.parts import PARTS, changed, fingerprints
from rackwright.rollout.plan import plan
from rackwright.rollout.way import way
from rackwright.site.awaiting import CannotServe
from rackwright.site.load import load
from rackwright.site.site import Site

STAGES = [
    "baseline", "metal", "cluster", "platform", "copy", "proof", "traffic", "cut-over", "stand-by", "no-return",
    "report",
]  # fmt: skip


def with_rollout(**settings) -> Site:
    site = lab()
    return site.model_copy(update={"rollout": site.rollout.model_copy(update=settings)})


def is_sound(found):
    names = [place.name for place in found.places]
    assert [stage.name for stage in found.stages] == STAGES
    assert len(set(names)) == len(names)
    past = False
    for place in found.places:
        step = place.step
        assert set(step.gates) <= set(found.gates), place.name
        assert {*step.reads, *step.fixed} <= set(PARTS), place.name
        assert not set(step.reads) & set(step.fixed), place.name
        assert step.does
        assert not step.does.endswith(".")
        past = past or step.ends_the_way_back
        assert not (past and step.back), place.name
        assert not step.takes_itself_back or step.back
    assert sum(place.step.ends_the_way_back for place in found.places) == 1
    assert not any(step.holds_s for stage in found.stages if stage.name != "traffic" for step in stage.steps)
    assert {gate for place in found.places for gate in place.step.gates} == set(found.gates) or not found.way.databases


def test_the_samples_plan():
    found = plan(lab())
    is_sound(found)
    assert found.way.moving == ("llama-70b", "qwen3-32b")
    text = " ".join(found.text().split())
    for name in ("gpu-02, gpu-03", "langgraph, mlflow, langfuse", "---- the point of no return ----", "2 of 3 servers"):
        assert name in text
    assert text.count("(not built)") == len(found.places)
    assert "MLflow, Langfuse come to phase 2 at the point of no return" in text
    assert found.as_json()["stages"][6]["steps"][0]["after"]["first-token"] == "P95 of the first token at most 1000 ms"


@settings(max_examples=30)
@given(sites())
def test_every_site_with_both_phases_has_a_sound_plan_and_others_are_refused_in_words(document):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "site.yml")
        file.write_text(yaml.safe_dump(document))
        site = load(Site, file)
    if site.phases != (1, 2):
        with pytest.raises(Refusal, match="has no phase"):
            plan(site)
        return
    with suppress(CannotServe):
        found = plan(site)
        is_sound(found)
        assert found == plan(site)
        assert {host.name for host in found.way.new} | {host.name for host in found.way.joining} == {
            host.name for host in site.hosts_in(2)
        }


def test_steps_of_traffic_are_those_that_the_site_states():
    found = plan(with_rollout(weights=(5, 100), hold_s=60))
    steps = [place.step for place in found.places if place.stage.name == "traffic"]
    assert [step.name for step in steps] == ["share-5", "share-100"]
    assert "5 % of sessions" in steps[1].back
    assert all(step.holds_s == 60 and step.takes_itself_back for step in steps)


def test_a_server_that_is_kept_apart_is_not_drained():
    site = lab()
    first = site.hosts[0].model_copy(update={"phases": (1,)})
    found = plan(site.model_copy(update={"hosts": (first, *site.hosts[1:])}))
    is_sound(found)
    assert [place.name for place in found.places if place.stage.name == "no-return"] == ["no-return/part"]
    assert "gpu-01 stays as a cluster of its own" in found.text()


def test_without_the_data_of_phase_1_nothing_is_copied_and_what_goes_back_loses_is_said():
    found = plan(with_rollout(copies_data=False))
    is_sound(found)
    names = [place.name for place in found.places]
    assert [name for name in names if "postgresql" in name or "qdrant" in name or "backup" in name] == []
    assert "phase 2 begins with empty ones" in found.text()
    assert "Langfuse" not in found.text()
    assert "Going back loses what was written to phase 2's databases" in found.text()


def test_a_site_whose_new_hosts_cannot_stand_alone_is_refused():
    site = lab()
    without = tuple(host for host in site.hosts if "control" not in host.roles)
    with pytest.raises(Refusal, match="Phase 2 has no control host"):
        plan(site.model_copy(update={"hosts": without}))
    apart = tuple(
        model.model_copy(update={f"phase{number}": model.phase1.model_copy(update={"replicas": 0})})
        for number, model in enumerate(site.models, 1)
    )
    with pytest.raises(Refusal, match="No model of lab is served in both phases"):
        plan(site.model_copy(update={"models": apart}))
    with pytest.raises(Refusal, match="has no phase 2"):
        plan(Site.load(ROOT / "inventory" / "example"))


def test_what_is_less_until_the_old_server_joins_is_said():
    known = " ".join(plan(lab()).text().split())
    assert "until gpu-01 joins, phase 2 has 3 of 4 replicas of llama-70b, 2 of 4 replicas of qwen3-32b, " in known
    assert "1 of 3 stores of vectors, 2 of 3 servers of PostgreSQL" in known


def test_new_hosts_that_cannot_carry_the_sessions_of_phase_1_are_refused():
    site = lab()
    hosts = [host for host in site.hosts if host.name != "gpu-03"]
    assert plan(site.model_copy(update={"hosts": tuple(hosts)})).way.meanwhile.models_in(2)
    hosts[1] = hosts[1].model_copy(update={"gpus": hosts[1].gpus.model_copy(update={"count": 4})})
    with pytest.raises(Refusal, match=r"cannot serve without gpu-01.*models ask for 8 .*qwen3-32b 2 x 2"):
        plan(site.model_copy(update={"hosts": tuple(hosts)}))


def test_a_fingerprint_shows_a_change_and_nothing_else():
    before = fingerprints(way(lab()), PARTS)
    assert not changed(before, way(lab()))
    assert changed(before, way(with_rollout(weights=(100,)))) == ("rollout.weights",)
    assert changed({"a part that is not known any more": "0"}, way(lab())) == ()
    assert all(len(value) == 12 for value in before.values())


def test_a_key_that_gets_its_default_later_changes_no_fingerprint():
    stated = lab()
    gateway = stated.gateway.model_copy(update={"port": 443})
    assert not changed(fingerprints(way(stated), PARTS), way(stated.model_copy(update={"gateway": gateway})))
