"""PostgreSQL's steps on two Clusters of a real Kubernetes API; the operator is played, its servers are real."""

import signal

import pytest
from local_pair import DATABASES, goes_on, kept, killed, told
from waiting import until

from rackwright.errors import Refusal
from rackwright.rollout.postgres import objects
from rackwright.rollout.postgres.acts import Copy, CutOver, FollowBack
from rackwright.rollout.postgres.between import NAME
from rackwright.rollout.postgres.objects import primary_of
from rackwright.rollout.postgres.pair import Sides, lag
from rackwright.rollout.postgres.writes import close, replayed
from rackwright.rollout.world import State


def test_a_copy_is_made_through_a_way_of_its_own_and_thrown_away_with_it(ground):
    copy = ground.steps[0]
    before = ground.cluster(1)["spec"]
    assert copy.look().state is State.ABSENT
    copy.do()
    assert copy.look().state is State.DONE
    assert lag(ground.pair).passed
    ground.pair.old.sql("INSERT INTO kept (writer, row) VALUES (1, 1)", "app")
    until(lambda: kept(ground.pair.new) == {(1, 1)})
    assert ground.left(1) == [NAME, NAME, "phase2-replication", "phase2-ca"]
    assert ground.left(2) == [NAME, NAME, "phase1-replication", "phase1-ca"]
    assert set(ground.operator.get("secret", "phase1-ca", "phase2")["data"]) == {"ca.crt"}
    assert ground.stacks[1].databases == "copied"
    copy.undo()
    assert copy.look().state is State.ABSENT
    assert [ground.left(phase) for phase in (1, 2)] == [[], []]
    assert ground.cluster(1)["spec"] == before  # phase 1 keeps no trace of it
    assert ground.stacks[1].databases == "awaited"
    assert kept(ground.pair.old) == {(1, 1)}


def test_killed_anywhere_while_it_is_copied_and_thrown_away_it_converges(ground):
    """At every sixth moment: each takes a copy and its end."""
    at, codes = -5, [-signal.SIGKILL]
    while any(codes):
        at += 6
        assert set(codes) <= {0, -signal.SIGKILL}
        copy = Copy(ground.pair)
        codes = [killed(ground.local, copy.do, at)]
        if copy.look().state is not State.DONE:
            copy.do()
        assert copy.look().state is State.DONE, at
        assert lag(ground.pair).passed, at
        codes.append(killed(ground.local, copy.undo, at))
        if copy.look().state is not State.ABSENT:
            copy.undo()
        assert copy.look().state is State.ABSENT, at
        assert [ground.left(phase) for phase in (1, 2)] == [[], []], at
    assert at >= 12


def test_killed_while_the_operator_has_yet_to_do_what_it_was_told_nothing_is_taken_for_what_it_was(writers, following):
    pair = following.pair
    close(pair.old, DATABASES)
    replayed(pair.old, pair.new)
    pair.first.say(objects.following(pair.first.side, pair.second.side))
    there = CutOver(pair, DATABASES)
    assert there.look().state is State.TO_FINISH  # a moment ago it was still the primary, and writes were paused
    there.do()
    assert there.look().state is State.DONE
    goes_on(writers)
    assert told(writers) <= kept(pair.new)


def test_killed_anywhere_on_the_way_there_and_back_it_converges_and_nothing_is_lost(writers, following):
    """At every sixth moment, there and back."""
    at, codes = -5, [-signal.SIGKILL]
    while any(codes):
        at += 6
        assert set(codes) <= {0, -signal.SIGKILL}
        codes = [killed(following.local, CutOver(following.pair, DATABASES).do, at)]
        there = CutOver(following.pair, DATABASES)
        if there.look().state is State.TO_UNDO:
            there.undo()
        if there.look().state is not State.DONE:
            there.do()
        assert there.look().state is State.DONE
        goes_on(writers)
        assert told(writers) <= kept(following.pair.new), at
        FollowBack(following.pair).do()
        codes.append(killed(following.local, there.undo, at))
        back = CutOver(following.pair, DATABASES)
        if back.look().state is not State.ABSENT:
            back.undo()
        assert back.look().state is State.ABSENT
        until(lambda: lag(following.pair).passed, f"phase 2 does not follow at {at}")
        goes_on(writers)
        assert told(writers) <= kept(following.pair.old), at
    assert at >= 10


def test_after_the_cut_over_no_stack_changes_who_takes_writes_and_each_may_change_the_rest(writers, following):
    """Applied as Pulumi's provider applies: under its own name, and refused where another's field would change."""
    _, cut_over, follow_back, _ = following.steps
    cut_over.do()
    assert cut_over.rows_equal().passed
    follow_back.do()
    assert lag(following.pair).passed
    assert cut_over.look().state is State.DONE
    before = [following.cluster(phase)["metadata"]["generation"] for phase in (1, 2)]
    following.stacks[0].put("own")
    following.stacks[1].put("copied")
    assert [following.cluster(phase)["metadata"]["generation"] for phase in (1, 2)] == before
    following.stacks[1].manifest["spec"]["instances"] = 2
    following.stacks[1].put("copied")
    found = following.cluster(2)
    assert found["spec"]["instances"] == 2
    assert primary_of(found) == "lab-phase2"
    goes_on(writers)
    assert told(writers) <= kept(following.pair.new)


def test_nothing_secret_is_in_a_command_line(following):
    following.steps[1].do()
    said = (following.folder / "said").read_text()
    assert "apply --server-side" in said
    assert "first tls" not in said
    assert following.cluster(2)["spec"]["replica"]["promotionToken"] not in said


def test_certificates_that_were_renewed_are_brought_again(following):
    def held():
        return following.pair.second.secrets("phase1-replication")["phase1-replication"]

    before = held()
    following.operator.certificate = "second"
    following.operator.give_certificates("phase1")
    assert held() == before
    said = following.folder / "said"
    said.unlink()
    following.pair.renew()
    assert said.read_text().count("get secret ") == 2  # each side once
    assert held() == following.pair.first.secrets("postgres-replication")["postgres-replication"] != before


def test_phase_1_follows_no_more_and_phase_2_s_is_one_like_any_other(writers, following):
    _, cut_over, follow_back, part = following.steps
    assert part.look().state is State.ABSENT
    with pytest.raises(Refusal, match="phase-2 does not take writes"):
        part.do()
    cut_over.do()
    follow_back.do()
    at, code = 0, -signal.SIGKILL
    while code:
        at += 1
        assert code == -signal.SIGKILL
        code = killed(following.local, part.do, at)
    assert at >= 8
    assert part.look().state is State.DONE
    assert [following.left(phase) for phase in (1, 2)] == [[], []]
    spec = following.cluster(2)["spec"]
    assert {"replica", "externalClusters"}.isdisjoint(spec)
    assert spec["bootstrap"] == following.stacks[1].manifest["spec"]["bootstrap"]
    assert Sides.of(following.pair) == Sides("follower", "primary")  # phase 1's takes no writes by mistake
    goes_on(writers)
    assert told(writers) <= kept(following.pair.new)
