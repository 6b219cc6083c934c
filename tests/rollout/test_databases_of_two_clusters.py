"""PostgreSQL's steps on two Clusters of a real Kubernetes API; the operator is played, its servers are real."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from local_pair import DATABASES, Writer, goes_on, kept, killed, told, two_servers
from played_operator import PlayedOperator, PlayedStack, TickedCluster
from played_world import lab
from waiting import until

from rackwright.errors import Refusal
from rackwright.rollout.postgres import objects
from rackwright.rollout.postgres.acts import Copy, CutOver, FollowBack
from rackwright.rollout.postgres.between import NAME, sides
from rackwright.rollout.postgres.clusters import ClusterPair
from rackwright.rollout.postgres.objects import primary_of
from rackwright.rollout.postgres.pair import Sides, lag
from rackwright.rollout.postgres.part import Part
from rackwright.rollout.postgres.server import is_follower
from rackwright.rollout.postgres.writes import close, is_open, replayed
from rackwright.rollout.way import way
from rackwright.rollout.world import State
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.kubectl import Kubectl
from rackwright.site.catalog import Catalog

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = ROOT / "rackwright" / "sandbox" / "charts" / "cloudnative-pg" / "crds" / "definitions.yaml"


@pytest.fixture(scope="module")
def api(toolbox, say):
    """A control plane of this module's own, which knows the operator's kinds: upstream's where they are to be had."""
    folder = os.environ.get("RACKWRIGHT_UPSTREAM")
    files = sorted(Path(folder, "crds", "cloudnative-pg").glob("*.yaml")) if folder else [STAND_IN]
    kinds = [each for file in files for each in yaml.safe_load_all(file.read_text()) if each]
    with ControlPlane(toolbox, progress=say) as cluster:
        cluster.apply(each for each in kinds if each["kind"] == "CustomResourceDefinition")
        cluster.kubectl("wait", "customresourcedefinitions", "--all", "--for=condition=Established", "--timeout=60s")
        yield cluster.kubectl


class Ground:
    """Both sides with all that plays in them."""

    def __init__(self, operator, stacks, pair, clusters, folder):
        self.operator, self.stacks, self.local, self.pair, self.folder = operator, stacks, pair, clusters, folder
        self.steps = (Copy(clusters), CutOver(clusters, DATABASES), FollowBack(clusters), Part(clusters))

    def cluster(self, phase):
        return self.operator.get("clusters.postgresql.cnpg.io", "postgres", f"phase{phase}")

    def left(self, phase):
        """What of the rollout lies in a phase."""
        kinds = (("service", NAME), ("networkpolicy", NAME), *(
            ("secret", f"phase{other}-{what}") for other in (1, 2) for what in ("replication", "ca")
        ))  # fmt: skip
        return [name for kind, name in kinds if self.operator.get(kind, name, f"phase{phase}")]


def ground_of(operator, local, folder):
    """Phase 1's server in its Cluster, and phase 2 without one."""
    old, new = sides(way(lab()))
    image = Catalog.load().images["postgresql"]
    environment = os.environ | {"KUBECACHEDIR": str(folder / "cache")}
    clusters = [
        TickedCluster(f"phase-{number}", side, operator.program(f"phase{number}"), environment, local)
        for number, side in ((1, old), (2, replace(new, port=old.port + 1)))  # one API has each port once
    ]
    stacks = [PlayedStack(operator, lab(), image, phase) for phase in (1, 2)]
    stacks[0].put("own")
    return Ground(operator, stacks, local, ClusterPair(*clusters, stacks[1]), folder)


@pytest.fixture
def ground(postgres_programs, api: Kubectl, tmp_path):
    with two_servers(postgres_programs) as local, PlayedOperator(api, local, tmp_path) as operator:
        yield ground_of(operator, local, tmp_path)
        assert operator.faults == []


@pytest.fixture
def following(ground):
    ground.steps[0].do()
    return ground


@pytest.fixture
def writers(following):
    found = [Writer(following.local, number) for number in range(2)]
    until(lambda: all(len(writer.told) > 20 for writer in found), "nothing was written")
    yield found
    for writer in found:
        writer.end()


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
        return following.pair.second.secret("phase1-replication")

    before = held()
    following.operator.certificate = "second"
    following.operator.give_certificates("phase1")
    assert held() == before
    following.pair.renew()
    assert held() == following.pair.first.secret("postgres-replication") != before


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
        following.operator._say(phase, {"conditions": [condition | more]})

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
    following.operator._say("phase2", {"readyInstances": 1})
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
    operator._say("phase1", {"demotionToken": old})
    monkeypatch.setattr("rackwright.rollout.postgres.clusters.ENDED_S", 2.0)
    with pytest.raises(Refusal, match="No token says that the log ended where phase-2 is"):
        pair.promote(pair.new)
    assert is_follower(pair.new)
