"""The databases' steps on two real servers, while applications write and remember what they were told."""

import signal

import pytest
from local_pair import DATABASES, console, goes_on, kept, killed, told, two_servers, writer_of
from played_world import PlayedWorld, lab
from waiting import until

from rackwright.errors import Refusal
from rackwright.rollout.journal import read
from rackwright.rollout.postgres.acts import Copy, CutOver, FollowBack
from rackwright.rollout.postgres.compared import compare
from rackwright.rollout.postgres.pair import Sides, lag
from rackwright.rollout.postgres.server import position
from rackwright.rollout.postgres.writes import close, is_open, open_again, replayed
from rackwright.rollout.world import State, World


@pytest.fixture
def pair(postgres_programs):
    with two_servers(postgres_programs) as found:
        yield found


@pytest.fixture
def following(pair):
    Copy(pair).do()
    return pair


@pytest.fixture
def writers(following):
    found = [writer_of(following, number) for number in range(3)]
    until(lambda: all(len(writer.told) > 20 for writer in found), "nothing was written")
    yield found
    for writer in found:
        writer.end()


def test_a_copy_is_made_follows_and_is_thrown_away(pair):
    copy = Copy(pair)
    assert copy.look().state is State.ABSENT
    copy.do()
    assert copy.look().state is State.DONE
    assert lag(pair).passed
    pair.old.sql("INSERT INTO kept (writer, row) VALUES (1, 1)", "app")
    until(lambda: kept(pair.new) == {(1, 1)})
    pair.second.stop()
    assert copy.look().state is State.TO_FINISH
    assert not lag(pair).passed
    copy.do()
    assert copy.look().state is State.DONE
    copy.undo()
    assert copy.look().state is State.ABSENT
    assert kept(pair.old) == {(1, 1)}


def test_writes_go_over_and_back_and_nothing_that_was_told_is_lost(writers, following):
    cut_over, back = CutOver(following, DATABASES), FollowBack(following)
    assert cut_over.look().state is State.ABSENT
    cut_over.do()
    assert cut_over.look().state is State.DONE
    assert Copy(following).look().state is State.DONE
    goes_on(writers)
    assert cut_over.rows_equal().passed
    assert "sequences, none behind" in cut_over.rows_equal().seen
    assert "writes were refused for" in cut_over.writes_go_on().seen
    assert told(writers) <= kept(following.new)
    assert back.look().state is State.ABSENT
    back.do()
    assert back.look().state is State.DONE
    assert lag(following).passed
    cut_over.undo()
    assert cut_over.look().state is State.ABSENT
    assert Copy(following).look().state is State.DONE
    goes_on(writers)
    for writer in writers:
        writer.end()
    assert told(writers) <= kept(following.old)
    until(lambda: kept(following.new) == kept(following.old))
    assert not compare(following.old, following.new, DATABASES).differing


def test_a_number_is_never_given_twice(writers, following):
    CutOver(following, DATABASES).do()
    goes_on(writers)
    assert following.new.sql("SELECT count(*) = count(DISTINCT number) FROM kept", "app") == "t"


def test_killed_anywhere_on_the_way_there_and_back_it_converges_and_nothing_is_lost(writers, following):
    """At every moment between two changes of a server, one after the other."""
    at, codes = 0, [-signal.SIGKILL]
    while any(codes):
        at += 1
        assert set(codes) <= {0, -signal.SIGKILL}
        codes = [killed(following, CutOver(following, DATABASES).do, at)]
        there = CutOver(following, DATABASES)
        if there.look().state is State.TO_UNDO:
            there.undo()
        if there.look().state is not State.DONE:
            there.do()
        assert there.look().state is State.DONE
        goes_on(writers)
        assert told(writers) <= kept(following.new), at
        FollowBack(following).do()
        codes.append(killed(following, there.undo, at))
        back = CutOver(following, DATABASES)
        back.undo()
        assert back.look().state is State.ABSENT
        goes_on(writers)
        assert told(writers) <= kept(following.old), at
    assert at >= 12


def test_killed_while_writes_are_paused_they_are_let_go_on_first(writers, following):
    close(following.old, DATABASES)
    cut_over = CutOver(following, DATABASES)
    assert cut_over.look().state is State.TO_UNDO
    cut_over.undo()
    assert cut_over.look().state is State.ABSENT
    goes_on(writers)


def test_a_copy_that_does_not_keep_up_ends_the_pause_and_not_the_primary(writers, following, monkeypatch):
    monkeypatch.setattr("rackwright.rollout.postgres.writes.REPLAY_S", 0.5)
    following.new.sql("SELECT pg_wal_replay_pause()")
    goes_on(writers)
    cut_over = CutOver(following, DATABASES)
    with pytest.raises(Refusal, match=r"phase-2 did not catch up with phase-1 in 0.5 s"):
        cut_over.do()
    assert cut_over.look().state is State.ABSENT
    goes_on(writers)
    following.new.sql("SELECT pg_wal_replay_resume()")
    cut_over.do()
    goes_on(writers)
    assert told(writers) <= kept(following.new)


def test_a_copy_that_differs_is_never_promoted(following, monkeypatch):
    real = compare

    def differs(primary, follower, databases):
        primary.sql("INSERT INTO kept (writer, row) VALUES (9, 9)", "app")
        follower.sql("SELECT pg_wal_replay_pause()")
        primary.sql("INSERT INTO kept (writer, row) VALUES (9, 10)", "app")
        return real(primary, follower, databases)

    monkeypatch.setattr("rackwright.rollout.postgres.acts.compare", differs)
    cut_over = CutOver(following, DATABASES)
    with pytest.raises(Refusal, match=r"The copy differs: app public.kept: 2 rows, and [01] in the copy"):
        cut_over.do()
    assert cut_over.look().state is State.ABSENT
    assert not cut_over.rows_equal().passed


def test_what_no_copy_gets_is_said_before_anything_is_paused(writers, following):
    following.old.sql("CREATE UNLOGGED TABLE queue (job int); CREATE UNLOGGED TABLE spare (job int)", "app")
    cut_over = CutOver(following, DATABASES)
    following.old.sql("INSERT INTO queue VALUES (1)", "app")
    with pytest.raises(Refusal, match="No copy gets what app holds in queue: unlogged tables"):
        cut_over.do()
    assert is_open(following.old, DATABASES)
    following.old.sql("ALTER TABLE queue SET LOGGED", "app")
    cut_over.do()
    assert following.new.sql("SELECT job FROM queue", "app") == "1"
    goes_on(writers)


def test_one_that_has_a_log_of_its_own_is_not_taken_for_one_that_caught_up(following, monkeypatch):
    """It replayed more than the standby that was promoted had: it is ahead, and what it holds is another's."""
    monkeypatch.setattr("rackwright.rollout.postgres.writes.REPLAY_S", 0.5)
    following.promote(following.new)
    following.new.sql("INSERT INTO kept (writer, row) SELECT 1, n FROM generate_series(1, 20000) n", "app")
    assert position(following.old) < position(following.new)
    with pytest.raises(Refusal, match="phase-2 did not catch up with phase-1"):
        replayed(following.old, following.new)


def test_a_primary_that_died_is_not_succeeded_by_a_copy_that_may_lack_something(writers, following):
    following.first.kill()
    until(lambda: not following.first.is_up)
    cut_over = CutOver(following, DATABASES)
    assert Sides.of(following) == Sides("down", "follower")
    assert cut_over.look().state is State.ABSENT
    assert not lag(following).passed
    with pytest.raises(Refusal, match="neither has the end of writes"):
        cut_over.do()
    following.first.start()
    goes_on(writers)


def test_two_that_take_writes_are_refused(following):
    following.promote(following.new)
    with pytest.raises(Refusal, match="both take writes"):
        CutOver(following, DATABASES).look()


def test_a_server_of_its_own_is_not_taken_for_a_copy(pair):
    pair.second.make()
    pair.second.start()
    with pytest.raises(Refusal, match="is a server of its own, and no copy"):
        Copy(pair).look()


def test_closed_lets_no_application_in_and_open_does(pair):
    application = console(pair.first, PGUSER="app")
    assert application.sql("SELECT 1", "app") == "1"
    close(pair.old, DATABASES)
    assert not is_open(pair.old, DATABASES)
    with pytest.raises(Refusal, match="too many connections for database"):
        application.sql("SELECT 1", "app")
    assert pair.old.sql("SELECT 1", "app") == "1"
    open_again(pair.old, DATABASES)
    assert is_open(pair.old, DATABASES)
    assert application.sql("SELECT 1", "app") == "1"


def test_what_cannot_be_paused_is_said_before(pair):
    pair.old.sql("ALTER DATABASE other CONNECTION LIMIT 7")
    with pytest.raises(Refusal, match="other has a connection limit of its own"):
        close(pair.old, DATABASES)


def test_the_runner_takes_databases_over_and_back_and_its_journal_shows_the_figures(writers, following, tmp_path):
    """Databases are real; machines, clusters and traffic are played."""
    cut_over = CutOver(following, DATABASES)
    acts = {
        "copy/postgresql": Copy(following),
        "cut-over/postgresql": cut_over,
        "stand-by/follow": FollowBack(following),
    }
    gates = {
        "copy/postgresql databases-follow": lambda: lag(following),
        "cut-over/postgresql databases-follow": lambda: lag(following),
        "stand-by/follow databases-follow": lambda: lag(following),
        "cut-over/postgresql rows-equal": cut_over.rows_equal,
        "cut-over/postgresql writes-go-on": cut_over.writes_go_on,
    }

    class Mixed(PlayedWorld):
        @property
        def world(self):
            played = super().world
            return World({**played.acts, **acts}, {**played.gates, **gates})

    world = Mixed(tmp_path, lab())
    # How long is a figure of the machine that this runs on, and here it is busy with other tests.
    world.run(until="stand-by", overrides=["writes-go-on"])
    goes_on(writers)
    assert told(writers) <= kept(following.new)
    seen = {(entry.step, entry.data["gate"]): entry.data["seen"] for entry in read(tmp_path) if entry.event == "gate"}
    assert "rows in 2 tables equal, 2 sequences, none behind" in seen["cut-over/postgresql", "rows-equal"]
    assert "writes were refused for" in seen["cut-over/postgresql", "writes-go-on"]
    assert "phase-1 streams, and lacks" in seen["stand-by/follow", "databases-follow"]
    assert not world.back().losses
    goes_on(writers)
    assert told(writers) <= kept(following.old)
    assert not following.has_copy()
