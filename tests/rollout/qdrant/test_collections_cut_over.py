"""Writes go over from one store to the other while applications write, and nothing that was told is lost."""

import random
import signal
import threading
import time

import pytest
from played_world import Ticks, in_child
from qdrant_stores import KEY, THREE, copy, cut_over, document, goes_on, image, lost, names, stores, write

from rackwright.errors import Refusal
from rackwright.rollout.qdrant.kept import held, keep
from rackwright.rollout.qdrant.operations import operations
from rackwright.rollout.qdrant.store import Store, count, path
from rackwright.rollout.qdrant.switch import SWITCH, Sides, Switch, application_key, turn
from rackwright.rollout.rehearsal.stand_in import StandIn
from rackwright.rollout.world import State


def test_writes_go_over_and_back_and_nothing_that_was_told_is_lost(filled, writers):
    old, new = stores(filled)
    act = cut_over(filled)
    assert act.look().state is State.ABSENT
    assert act.collections_follow().passed
    act.do()
    assert act.look().state is State.DONE
    assert copy(filled).look().state is State.DONE
    assert "collections equal" in act.points_equal().seen
    assert "writes were refused for" in act.writes_go_on().seen
    goes_on(writers)
    with pytest.raises(Refusal, match="phase-2 takes writes"):
        keep(old, new, THREE, lambda _: None)
    act.undo()
    assert act.look().state is State.ABSENT
    goes_on(writers)
    act.do()
    goes_on(writers)
    assert not lost(writers, new)
    assert all(writer.refused for writer in writers)


def test_writes_that_are_acknowledged_before_they_are_carried_out_come_along(filled, writers):
    if not isinstance(filled[0], StandIn):
        pytest.skip("a real store is not to be slowed down")
    filled[0].slow_s = 0.6
    time.sleep(0.7)
    cut_over(filled).do()
    goes_on(writers)
    assert not lost(writers, stores(filled)[1])


def test_killed_anywhere_on_the_way_there_and_back_it_converges_and_nothing_is_lost(filled, writers):
    """Before and after each request, by steps that grow: after some hundreds of them it ends by itself."""
    at, killed_there, killed_back = 0, 1, 1
    while killed_there or killed_back:
        at += 1 + at // 5
        killed_there = killed(filled, lambda act: act.do(), at)
        there = cut_over(filled)
        if there.look().state is State.TO_UNDO:
            there.undo()
        if there.look().state is not State.DONE:
            there.do()
        goes_on(writers)
        killed_back = killed(filled, lambda act: act.undo(), at)
        back = cut_over(filled)
        assert back.look().state in (State.DONE, State.TO_UNDO, State.ABSENT)
        back.undo()
        assert back.look().state is State.ABSENT
        goes_on(writers)
    assert at > 50
    cut_over(filled).do()
    assert not lost(writers, stores(filled)[1])


def killed(both, do, at) -> int:
    """Its exit code when it is killed at the n-th moment around a request."""

    def act():
        cut = cut_over(both)
        cut.old.ticks = cut.new.ticks = Ticks(at)
        do(cut)

    code = in_child(act)
    assert code in (0, -signal.SIGKILL), code
    return code


def test_killed_while_writes_are_paused_they_are_let_go_on_first(filled, writers):
    old, _ = stores(filled)
    turn(old, Switch(is_open=False, turn=1))
    act = cut_over(filled)
    assert act.look().state is State.TO_UNDO
    act.undo()
    assert act.look().state is State.ABSENT
    goes_on(writers)


def test_somebody_who_writes_past_the_switch_ends_the_pause_and_is_told(filled, writers):
    old, _ = stores(filled)
    ends = threading.Event()

    def writes_past():
        number = 0
        while not ends.is_set():
            number += 1
            write(old, "images and more", [image(random.Random(number), names(random.Random(number), 1)[0])])

    thread = threading.Thread(target=writes_past, daemon=True)
    thread.start()
    act = cut_over(filled)
    with pytest.raises(Refusal, match=r"Somebody writes to images and more of phase-1|Both differ") as refusal:
        act.do()
    ends.set()
    thread.join()
    assert "application-key" in refusal.value.cure or "try again" in refusal.value.cure
    assert act.look().state is State.ABSENT
    goes_on(writers)
    act.do()
    goes_on(writers)
    write(old, "documents", [document(random.Random(1), 900)])
    assert act.writes_go_on().seen == "documents of phase-1 was written to after the pause"


def test_a_last_pass_that_would_take_too_long_pauses_nothing(filled, writers, monkeypatch):
    monkeypatch.setattr("rackwright.rollout.qdrant.acts.IN_A_PAUSE_S", 1e-6)
    act = cut_over(filled)
    reading = act.collections_follow()
    assert not reading.passed
    assert "of 1 that are written to, a pass takes" in reading.seen
    refused = [writer.refused for writer in writers]
    with pytest.raises(Refusal, match="A last pass over documents would take about") as refusal:
        act.do()
    assert "Nothing was paused" in refusal.value.cure
    assert refused == [writer.refused for writer in writers]
    assert act.look().state is State.ABSENT


def test_a_pause_that_gets_too_long_ends_with_writes_going_on(filled, writers, monkeypatch):
    monkeypatch.setattr("rackwright.rollout.qdrant.acts.REFUSED_S", 0.01)
    act = cut_over(filled)
    with pytest.raises(Refusal, match=r"The last pass took \d+\.\d s\."):
        act.do()
    assert act.look().state is State.ABSENT
    goes_on(writers)


def test_a_store_that_dies_in_the_pause_lets_writes_go_on(filled, writers):
    if not isinstance(filled[0], StandIn):
        pytest.skip("a real store is not to be filled up")
    filled[1].is_full = True
    act = cut_over(filled)
    with pytest.raises(Refusal, match=r"phase-2 says no to PUT .*507, Insufficient storage") as refusal:
        act.do()
    assert "Make room on its volume" in refusal.value.cure
    assert act.look().state is State.ABSENT
    goes_on(writers)
    filled[1].is_full = False
    filled[1].state = "Dead"
    with pytest.raises(Refusal, match="not every copy is active: "):
        act.do()
    goes_on(writers)
    filled[1].state = "Active"
    act.do()
    goes_on(writers)
    assert not lost(writers, stores(filled)[1])


def test_both_open_is_refused_and_nothing_is_touched(filled):
    old, new = stores(filled)
    copy(filled).do()
    turn(new, Switch(is_open=True, turn=9))
    for act in (copy(filled), cut_over(filled)):
        with pytest.raises(Refusal, match="phase-1 and phase-2 both take writes"):
            act.look()
    with pytest.raises(Refusal, match="Nothing was changed"):
        keep(old, new, THREE, lambda _: None)
    with pytest.raises(Refusal, match="phase-2 was written to last"):
        copy(filled).undo()


def test_a_store_that_lost_what_writes_went_to_is_not_taken_for_one_without_a_copy(filled):
    """Else the way back would go on to throw away the rest, and leave phase 1's shut."""
    copy(filled).do()
    cut_over(filled).do()
    _, new = stores(filled)
    for name in (*held(new), SWITCH):
        new.ask("DELETE", path(name))
    with pytest.raises(Refusal, match="phase-1 takes no writes, and phase-2, where they may have gone"):
        cut_over(filled).look()


def test_limits_for_applications_come_with_their_writes(filled):
    old, new = stores(filled)
    limits = {"enabled": True, "upsert_max_batchsize": 10}
    old.ask("PATCH", path("documents"), {"strict_mode_config": limits})
    copy(filled).do()
    assert not (new.result("GET", path("documents"))["config"].get("strict_mode_config") or {}).get("enabled")
    cut_over(filled).do()
    assert new.result("GET", path("documents"))["config"]["strict_mode_config"]["upsert_max_batchsize"] == 10


def test_operations_of_every_shard_must_be_told(filled):
    if not isinstance(filled[0], StandIn):
        pytest.skip("a real store tells them")
    del filled[0].collections["documents"].operations[1]
    with pytest.raises(Refusal, match="does not tell how many operations came to every shard of documents"):
        operations(stores(filled)[0])


def test_the_switch_turns_the_key_of_applications(filled):
    old, new = stores(filled)
    application = Store("an application", [filled[0].address], application_key(KEY))
    with pytest.raises(Refusal, match="refuses the key"):
        held(application)
    copy(filled).do()
    assert count(application, "documents") == 300
    cut_over(filled).do()
    with pytest.raises(Refusal, match="refuses the key"):
        count(application, "documents")
    assert Sides.of(old, new) == Sides(Switch(is_open=False, turn=1), Switch(is_open=True, turn=2))
    assert SWITCH not in held(new)
