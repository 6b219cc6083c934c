"""The runner in a played world: from the start to the end, and everything that stops it on the way."""

import json

import pytest
from played_world import PlayedAct, PlayedWorld, edited, events, lab

from rackwright.errors import Refusal
from rackwright.rollout.journal import read
from rackwright.rollout.plan import plan

GATES = [
    (place.name, gate, when)
    for place in plan(lab()).places
    for when in ("before", "after")
    for gate in getattr(place.step, when)
]


def test_it_goes_from_the_start_to_the_end_and_asks_once_a_stage(world):
    world.run()
    names = [place.name for place in world.plan.places]
    assert world.done() == names
    assert world.asked == [stage.name for stage in world.plan.stages]
    assert events(world, "begun", "done") == [(event, name) for name in names for event in ("begun", "done")]


def test_a_second_run_finds_all_done_and_changes_nothing(world):
    world.run()
    before, asked = world.lines(), list(world.asked)
    world.run()
    assert world.lines() == before
    assert world.asked == asked


def test_it_stops_at_the_end_of_a_stage_and_goes_on_weeks_later(world):
    world.run(until="copy")
    assert world.done()[-1] == "copy/weights"
    world.run()
    assert world.done() == [place.name for place in world.plan.places]
    assert not world.twice()


def test_no_such_stage_and_no_such_gate(world):
    with pytest.raises(Refusal, match=r"There is no stage copyy\. Did you mean copy"):
        world.run(until="copyy")
    with pytest.raises(Refusal, match=r"There is no gate quue\. Did you mean queue"):
        world.run(overrides=["quue"])
    assert not world.lines()


def test_nothing_is_begun_where_a_step_on_the_way_is_not_built(world):
    world.without = frozenset({"copy/qdrant"})
    with pytest.raises(Refusal, match=r"copy/qdrant cannot be carried out yet; nothing was changed.*--until platform"):
        world.run()
    assert not world.lines()
    assert not read(world.folder)
    world.run(until="platform")
    assert world.done()[-1] == "platform/lay"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("step", "gate", "when"), GATES)
def test_a_fault_at_a_gate_stops_it_before_harm_says_the_figure_and_goes_on_when_mended(tmp_path, step, gate, when):
    world = PlayedWorld(tmp_path, lab())
    world.failing = {f"{step} {gate}"}
    names = [place.name for place in world.plan.places]
    with pytest.raises(Refusal) as refused:
        world.run()
    assert refused.value.what == f"{step} stops at the gate {gate}: {gate} is worse than 17.5; wanted: well."
    assert f"--override {gate}" in refused.value.cure
    (place,) = [each for each in world.plan.places if each.name == step]
    was_done = {"before": "", "after": "undone" if place.step.takes_itself_back else "done"}
    assert world.word(step) == was_done[when]
    assert all(world.word(name) == "" for name in names[names.index(step) + 1 :])
    last = read(world.folder)[-1]
    assert last.event == "stopped"
    assert "17.5" in last.data["why"]
    world.failing = set()
    world.run()
    assert world.done() == names
    assert not world.twice()


def test_a_gate_may_be_overridden_by_name_and_that_is_written_down(world):
    world.failing = {"recall"}
    with pytest.raises(Refusal):
        world.run()
    world.run(overrides=["recall"])
    (found,) = [entry for entry in read(world.folder) if entry.data.get("overridden")]
    assert (found.step, found.data["gate"], found.data["passed"]) == ("proof/queries", "recall", False)
    assert found.data["seen"] == "recall is worse than 17.5"


def test_an_override_lets_one_step_pass_and_no_other(world):
    world.failing = {"errors"}
    with pytest.raises(Refusal, match=r"traffic/share-10 stops at the gate errors"):
        world.run(overrides=["errors"])
    assert world.word("traffic/share-1") == "done"
    assert world.word("traffic/share-10") == "undone"


def test_a_gate_that_cannot_be_seen_does_not_pass(world, monkeypatch):
    def unseen(*_):
        def read():
            raise Refusal("Prometheus does not answer.", "Open a way to it.")

        return read

    monkeypatch.setattr(PlayedWorld, "gate", unseen)
    with pytest.raises(Refusal, match="not seen: Prometheus does not answer"):
        world.run()
    assert not world.lines()


def test_traffic_is_held_and_taken_back_by_itself_when_a_gate_fails_meanwhile(world):
    world.run(until="proof")
    began = world.clock.now

    def worse(seconds):
        world.clock.now += seconds
        if world.word("traffic/share-10") == "done":
            world.failing = {"first-token"}

    runner = world.runner()
    runner.sleep = worse
    runner.__post_init__()
    with pytest.raises(Refusal, match=r"traffic/share-10 stops at the gate first-token"):
        runner.run()
    hold_s = world.site.rollout.hold_s
    assert hold_s < world.clock.now - began < 2 * hold_s
    assert world.word("traffic/share-1") == "done"
    assert world.word("traffic/share-10") == "undone"
    assert [step for event, step in events(world, "taking back", "taken back")] == ["traffic/share-10"] * 2
    world.failing = set()
    began = world.clock.now
    world.run(until="traffic")
    assert world.clock.now - began == 3 * hold_s  # 10, 50 and 100 %


def test_what_was_done_behind_its_back_is_only_recorded(world):
    world.say("done", "baseline/figures")
    world.run(until="baseline")
    assert events(world, "begun", "found")[0] == ("found", "baseline/figures")


def test_what_was_undone_behind_its_back_is_done_again(world):
    world.run(until="cluster")
    world.say("undone", "cluster/found")
    world.run(until="cluster")
    assert world.word("cluster/found") == "done"


def test_what_does_not_show_after_it_was_done_is_told(world, monkeypatch):
    monkeypatch.setattr("played_world.PlayedAct.do", lambda _: None)
    with pytest.raises(Refusal, match="baseline/figures was carried out, and is absent"):
        world.run()


def test_a_fault_of_a_step_leaves_no_words_of_its_own_in_the_journal(world):
    world.breaks = {"metal/provision": ValueError("canary-of-a-secret")}
    with pytest.raises(ValueError, match="canary"):
        world.run()
    assert read(world.folder)[-1].data["why"] == "ValueError"
    assert "canary" not in (world.folder / "rollout.jsonl").read_text()
    world.breaks = {}
    world.run()
    assert not world.twice()


def test_a_harmless_edit_is_planned_again_and_what_reads_it_is_looked_at_again(world):
    world.run(until="proof")
    edited(world, "rollout: {hold_s: 900}", "rollout: {weights: [5, 100], hold_s: 900}")
    world.run(until="traffic")
    assert [name for name in world.done() if name.startswith("traffic")] == ["traffic/share-5", "traffic/share-100"]
    edited(world, "workload: {users: 120", "workload: {users: 130")
    asked = len(world.asked)
    world.run(until="traffic")
    assert world.asked[asked:] == ["baseline", "proof"]  # what was measured is looked at again, and nothing else
    assert not world.twice()


def test_past_the_point_of_no_return_an_edit_lets_nobody_ask_a_phase_1_that_is_gone(world, monkeypatch):
    world.run(until="no-return")
    edited(world, "memory_gib: 64, cores: 16", "memory_gib: 96, cores: 16")
    looked, real = [], PlayedAct.look
    monkeypatch.setattr(PlayedAct, "look", lambda act: (looked.append(act.name), real(act))[1])
    world.run()
    assert "copy/postgresql" not in looked
    assert "report/figures" in world.done()


def test_another_place_for_a_kubeconfig_changes_nothing(world):
    world.run(until="copy")
    before = world.lines()
    edited(world, "kubeconfig: ~/.kube/lab-phase2", "kubeconfig: ~/.kube/elsewhere")
    world.run(until="copy")
    assert world.lines() == before


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("host: llm.lab.internal", "host: llm2.lab.internal", "gateway.host has changed since platform/lay"),
        ("api: 10.30.0.5", "api: 10.30.0.7", "clusters.phase2 has changed since cluster/found"),
        ("shard_number: 12", "shard_number: 6", "vectors.shard_number has changed since platform/lay"),
        (
            "rollout: {hold_s: 900}",
            "rollout: {copies_data: false}",
            "rollout.copies_data has changed since platform/lay",
        ),
    ],
)
def test_a_harmful_edit_is_refused_with_the_reason(world, old, new, why):
    world.run(until="copy")
    before = world.lines()
    edited(world, old, new)
    with pytest.raises(Refusal) as refused:
        world.run()
    assert why in refused.value.what
    assert "must not: " in refused.value.what
    assert world.lines() == before


def test_the_journal_of_a_run_can_be_read_line_by_line(world):
    world.run(until="metal")
    lines = [json.loads(line) for line in (world.folder / "rollout.jsonl").read_text().splitlines()]
    assert [line["n"] for line in lines] == list(range(1, len(lines) + 1))
    assert all(line["at"].endswith("Z") and "@" in line["by"] for line in lines)
    begun = next(line for line in lines if line["event"] == "begun")
    assert begun["inputs"].keys() == {"models of both phases", "workload"}
