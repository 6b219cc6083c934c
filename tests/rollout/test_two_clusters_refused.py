"""What PostgreSQL's steps refuse on two Clusters of a real Kubernetes API, before anything is lost."""

import pytest
from local_pair import DATABASES, goes_on, kept, told
from waiting import until

from rackwright.errors import Refusal
from rackwright.rollout.postgres.acts import CutOver
from rackwright.rollout.postgres.pair import Sides, lag
from rackwright.rollout.postgres.server import is_follower
from rackwright.rollout.postgres.writes import is_open


def test_a_server_that_holds_anything_of_its_own_is_never_touched(following, ground):
    following.steps[1].do()
    for act in (ground.pair.discard, ground.pair.copy):
        with pytest.raises(Refusal, match="phase-2 was promoted"):
            act()
    with pytest.raises(Refusal, match="Take the cut-over back first"):
        following.steps[0].undo()


def test_a_copy_is_not_thrown_away_in_the_middle_of_a_cut_over(following):
    following.pair.prepare()
    following.pair.demote(following.pair.old)
    with pytest.raises(Refusal, match="phase-1 has ended its writes"):
        following.pair.discard()
    following.pair.promote(following.pair.old)  # by its own token: nobody else took writes since
    assert Sides.of(following.pair).old == "primary"
    until(lambda: lag(following.pair).passed)


def test_a_copy_to_which_writes_go_over_meanwhile_is_not_thrown_away(writers, following, monkeypatch):
    """Another checkout cuts over while this one's stack is at work: neither sees the other's lock."""
    monkeypatch.setattr(following.stacks[1], "put", lambda _: CutOver(following.pair, DATABASES).do())
    with pytest.raises(Refusal, match="phase-2 was promoted"):
        following.steps[0].undo()
    goes_on(writers)
    assert told(writers) <= kept(following.pair.new)


def test_one_that_its_stack_founded_is_no_copy(ground):
    ground.operator.halt()
    ground.stacks[1].put("own")
    for act in (ground.pair.discard, ground.pair.copy):
        with pytest.raises(Refusal, match="phase-2 was not founded as a copy of phase-1"):
            act()
    assert ground.cluster(2) is not None


def test_without_a_token_nothing_is_promoted(following, monkeypatch):
    monkeypatch.setattr("rackwright.rollout.postgres.clusters.ENDED_S", 1.0)
    with pytest.raises(Refusal, match="No token says that the log ended where phase-2 is"):
        following.pair.promote(following.pair.new)
    assert Sides.of(following.pair) == Sides("primary", "follower")


def test_a_log_that_is_not_archived_is_said_before_anything_is_paused(following):
    """A second copy finds the folder of the first one: the operator archives nothing of it, and gives no token."""

    def archiving(phase, status):
        condition = {"type": "ContinuousArchiving", "status": status, "message": "Expected empty archive"}
        more = {"reason": "ContinuousArchivingFailing", "lastTransitionTime": "2026-11-30T00:00:00Z"}
        following.operator.say(phase, {"conditions": [condition | more]})

    for phase in (2, 1):
        archiving(f"phase{phase}", "False")
        with pytest.raises(Refusal, match=f"phase-{phase} does not archive its log: Expected empty archive") as refused:
            following.steps[1].do()
        assert f"the folder lab-phase{phase} of the object storage" in refused.value.cure
        assert is_open(following.pair.old, DATABASES)
        archiving(f"phase{phase}", "True")
    following.steps[1].do()
    archiving("phase1", "False")
    following.steps[1].undo()  # who follows archives for itself alone: the way back does not wait for it


def test_commits_that_would_wait_for_standbys_are_said_before_anything_is_paused(following):
    assert following.cluster(2)["spec"]["postgresql"]["synchronous"]["number"] == 1
    following.operator.say("phase2", {"readyInstances": 1})
    with pytest.raises(Refusal, match="phase-2 has too few instances ready"):
        following.steps[1].do()
    assert is_open(following.pair.old, DATABASES)


def test_an_old_token_of_one_that_takes_writes_promotes_nobody(following, monkeypatch):
    """It was demoted and took over again; the copy, cut off meanwhile, is still where the token says."""
    pair, operator = following.pair, following.operator
    pair.demote(pair.old)
    old = following.cluster(1)["status"]["demotionToken"]
    pair.new.sql("ALTER SYSTEM SET primary_conninfo = ''")
    pair.new.sql("SELECT pg_reload_conf()")
    pair.promote(pair.old)
    pair.old.sql("INSERT INTO kept (writer, row) VALUES (1, 1)", "app")
    operator.say("phase1", {"demotionToken": old})
    monkeypatch.setattr("rackwright.rollout.postgres.clusters.ENDED_S", 2.0)
    with pytest.raises(Refusal, match="No token says that the log ended where phase-2 is"):
        pair.promote(pair.new)
    assert is_follower(pair.new)
