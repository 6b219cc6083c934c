"""What a rollout sees of collections: the same answers in both stores, and what it writes down."""

import random

import pytest
from played_world import PlayedWorld, lab
from qdrant_stores import KEY, THREE, copy, document, goes_on, lost, stores, write

from rackwright.rollout.journal import read
from rackwright.rollout.qdrant.golden import Golden
from rackwright.rollout.qdrant.kept import follow, held
from rackwright.rollout.qdrant.steps import steps
from rackwright.rollout.qdrant.store import path
from rackwright.rollout.rehearsal.stand_in import StandIn
from rackwright.rollout.world import State, World


def test_golden_queries_find_the_same_in_both(filled):
    copy(filled).do()
    golden = Golden(*stores(filled), THREE, lambda _: None)
    assert golden.look().state is State.ABSENT
    assert not golden.recall().passed
    golden.do()
    assert golden.look().state is State.DONE
    assert {(each.collection, each.vector) for each in golden.asked} == {
        ("documents", ""), ("images and more", "small"), ("images and more", "far"), ("images and more", "many"),
        ("images and more", "words"),
    }  # fmt: skip
    assert golden.recall().passed, golden.recall()
    assert golden.points_equal().seen == "360 points in 2 collections equal"
    assert min(each.queries for each in golden.asked) > 5


def test_what_was_written_in_the_weeks_since_the_copy_is_brought_before_it_is_judged(filled):
    old, new = stores(filled)
    copy(filled).do()
    write(old, "documents", [document(random.Random(5), name) for name in range(1000, 1150)])
    assert follow(old, new).seen == "documents has 300 of 450 points"
    gates = steps(old, new, lab().vectors, lambda _: None).gates
    assert gates["proof/queries collections-follow"]().passed
    assert follow(old, new).seen == "2 collections with 510 points"
    write(old, "documents", [document(random.Random(5), name) for name in range(2000, 2150)])
    assert gates["cut-over/qdrant collections-follow"]().seen.startswith("2 collections with 660 points; of 0 ")


def test_an_index_that_finds_too_little_fails(filled):
    if not isinstance(filled[0], StandIn):
        pytest.skip("a real index is better")
    copy(filled).do()
    filled[1].misses = 1
    golden = Golden(*stores(filled), THREE, lambda _: None)
    golden.do()
    reading = golden.recall()
    assert not reading.passed
    assert "90.0%" in reading.seen


def test_points_that_lack_are_told_where_nobody_writes(filled):
    _, new = stores(filled)
    copy(filled).do()
    golden = Golden(*stores(filled), THREE, lambda _: None)
    golden.do()
    new.ask("POST", path("documents", "points", "delete") + "?wait=true", {"points": [1]})
    assert golden.points_equal().seen == "documents has 300 points, and 299 in phase-2"
    assert not golden.points_equal().passed


def test_the_whole_rollout_carries_the_collections_and_writes_down_what_it_saw(tmp_path, filled, writers):
    """With the runner, its journal and gates; every other step is played."""
    old, new = stores(filled)
    built = steps(old, new, lab().vectors, lambda _: None)

    class Mixed(PlayedWorld):
        @property
        def world(self):
            played = super().world
            kept = {name: gate for name, gate in played.gates.items() if not collections_gate(name)}
            return World({**played.acts, **built.acts}, {**kept, **built.gates})

    def collections_gate(name):
        return (
            name in built.gates
            or any(name == f"{place} collections-follow" for place in built.acts)
            or name == ("proof/queries recall")
        )

    world = Mixed(tmp_path, lab())
    world.run(until="stand-by")
    goes_on(writers)
    seen = {(entry.step, entry.data["gate"]): entry.data["seen"] for entry in read(tmp_path) if entry.event == "gate"}
    assert "2 collections with" in seen["copy/qdrant", "collections-follow"]
    assert "golden queries" not in seen["proof/queries", "recall"]
    assert "queries, at worst" in seen["proof/queries", "recall"]
    assert "in 2 collections equal" in seen["cut-over/qdrant", "points-equal"]
    assert "writes were refused for" in seen["cut-over/qdrant", "writes-go-on"]
    assert KEY not in (tmp_path / "rollout.jsonl").read_text()
    assert not world.back().losses
    goes_on(writers)
    assert not lost(writers, old)
    assert held(new) == ()
