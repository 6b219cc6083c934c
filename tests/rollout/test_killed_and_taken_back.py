"""Runs of a rollout that are killed or taken back: whatever ends one, the next goes on, and nothing is done twice."""

import signal

import pytest
from played_world import PlayedAct, PlayedWorld, Ticks, edited, events, in_child, lab

from rackwright.errors import Refusal
from rackwright.rollout.journal import read
from rackwright.rollout.plan import plan


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_last_word_and_the_same_command_goes_on(world, number):
    def child():
        signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(SystemExit(143)))
        world.ticks = Ticks(at=60, number=number)
        world.run()

    code = in_child(child)
    assert code in (130, 70)
    last = read(world.folder)[-1]
    assert (last.event, last.data["why"]) in (
        ("stopped", "it was stopped by hand"),
        ("stopped", "it was ended by a signal"),
    )
    world.run()
    assert world.done() == [place.name for place in world.plan.places]
    assert not world.twice()


@pytest.mark.usefixtures("quick")
def test_kill_9_at_every_moment_and_the_same_command_converges(tmp_path):
    site, at = lab(), 0
    while True:
        at += 1
        folder = tmp_path / str(at)
        folder.mkdir()
        world = PlayedWorld(folder, site, ticks=Ticks(at))
        code = in_child(world.run)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        passed = [place for place in world.plan.places if place.name in world.done()]
        world.ticks = Ticks()
        world.run()
        assert world.done() == [place.name for place in world.plan.places], at
        assert not world.twice(), at
        again = [entry.step for entry in read(folder) if entry.event == "begun"]
        assert len(again) <= len(world.plan.places) + 1, (
            f"killed at {at}, {len(passed)} steps were done, begun: {again}"
        )
    assert at > 10 * len(world.plan.places)  # else hardly any moment was tried


@pytest.mark.usefixtures("quick")
def test_kill_9_at_every_moment_of_the_way_back(tmp_path):
    site, at = lab(), 0
    while True:
        at += 1
        folder = tmp_path / str(at)
        folder.mkdir()
        world = PlayedWorld(folder, site)
        world.run(until="stand-by")
        world.ticks = Ticks(at)
        code = in_child(world.back)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        world.ticks = Ticks()
        world.back()
        assert not [place.name for place in world.plan.places if place.step.back and world.word(place.name) == "done"]
        world.run(until="stand-by")
        assert not world.twice(), at
    assert at > 40


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("stage", [stage.name for stage in plan(lab()).stages[:9]])
def test_back_from_every_stage_leaves_nothing_but_what_harms_nobody(world, stage):
    world.run(until=stage)
    way_back = world.back()
    assert not way_back.losses
    assert [place.name for place in way_back.places] == [
        place.name
        for place in reversed(world.plan.up_to(stage))
        if place.name in {each.name for each in way_back.places}
    ]
    assert not [place.name for place in world.plan.places if place.step.back and world.word(place.name) == "done"]
    assert not world.back().places
    world.run()
    assert not world.twice()


def test_back_to_a_stage_keeps_what_came_before(world):
    world.run(until="traffic")
    world.back(to="proof")
    assert "copy/postgresql" in world.done()
    assert not [name for name in world.done() if name.startswith("traffic")]


def test_back_is_refused_past_the_point_of_no_return(world):
    world.run(until="no-return")
    with pytest.raises(Refusal, match="point of no return was passed by"):
        world.back()
    assert world.word("stand-by/follow") == "done"


def test_back_is_refused_past_the_point_of_no_return_without_a_journal_too(world):
    world.run(until="no-return")
    (world.folder / "rollout.jsonl").unlink()
    before = world.lines()
    with pytest.raises(Refusal, match="the journal has no word of it"):
        world.back()
    assert world.lines() == before


def test_back_is_refused_with_a_site_that_has_no_word_of_what_was_copied(world):
    """Its plan would have no cut-over to take back, and so throw phase 2 away with all that was written there."""
    world.run(until="cut-over")
    before = world.lines()
    edited(world, "rollout: {hold_s: 900}", "rollout: {copies_data: false}")
    with pytest.raises(Refusal, match=r"rollout\.copies_data has changed since platform/lay was done"):
        world.back()
    assert world.lines() == before


def test_what_cannot_be_seen_ends_the_way_back_where_anything_would_be_taken_away(world, monkeypatch):
    """Phase 2's cluster does not answer: databases may have gone over to it, or it may never have been founded."""
    real = PlayedAct.look

    def look(act):
        if act.name == "cut-over/postgresql":
            raise Refusal("It does not answer.", "See that it is up.")
        return real(act)

    world.run(until="metal")
    monkeypatch.setattr(PlayedAct, "look", look)
    world.back()
    monkeypatch.undo()
    world.run(until="cluster")
    monkeypatch.setattr(PlayedAct, "look", look)
    before = world.lines()
    with pytest.raises(Refusal, match="It does not answer"):
        world.back()
    assert world.lines() == before


def test_back_finds_what_a_lost_journal_would_have_told(world):
    world.run(until="cut-over")
    (world.folder / "rollout.jsonl").unlink()
    world.back()
    assert not [place.name for place in world.plan.places if place.step.back and world.word(place.name) == "done"]


def test_a_lost_journal_is_made_again_from_facts(world):
    world.run(until="cut-over")
    before = world.lines()
    (world.folder / "rollout.jsonl").unlink()
    world.run(until="cut-over")
    assert world.lines() == before
    assert ("found", "cut-over/postgresql") in events(world, "found")
