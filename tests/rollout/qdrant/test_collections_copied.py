"""Collections come from one store to the other, whoever dies on the way; what cannot come is refused."""

import random
import signal

import pytest
from played_world import Ticks, in_child
from qdrant_stores import DOCUMENTS, KEY, THREE, copy, document, everything, stores, write

from rackwright.errors import Refusal
from rackwright.rollout.qdrant.kept import follow, held, keep
from rackwright.rollout.qdrant.passes import bring
from rackwright.rollout.qdrant.store import Store, aliases, path
from rackwright.rollout.qdrant.switch import switch
from rackwright.rollout.rehearsal.stand_in import StandIn
from rackwright.rollout.world import State


def test_everything_comes_along_and_is_thrown_away_again(filled):
    old, new = stores(filled)
    act = copy(filled)
    assert act.look().state is State.ABSENT
    act.do()
    assert act.look().state is State.DONE
    assert everything(new) == everything(old)
    assert len(everything(new)) == 360
    assert aliases(new) == {"library": "documents"}
    there = new.result("GET", path("documents"))
    assert there["config"]["params"]["shard_number"] == 6
    assert there["config"]["params"]["vectors"]["distance"] == "Cosine"
    assert {name: each["data_type"] for name, each in there["payload_schema"].items()} == {
        "city": "keyword",
        "a.b": "text",
    }
    assert follow(old, new).seen == "2 collections with 360 points"
    before = everything(old)
    act.undo()
    assert act.look().state is State.ABSENT
    assert held(new) == ()
    assert switch(new) is None
    assert everything(old) == before


def test_a_pass_puts_right_what_was_changed_removed_and_made_meanwhile(filled):
    old, new = stores(filled)
    copy(filled).do()
    chance = random.Random(3)
    write(old, "documents", [document(chance, name) for name in (5, 299, 300, 301)])
    old.ask("POST", path("documents", "points", "delete") + "?wait=true", {"points": [0, 7]})
    passed = bring(old, new, "documents", lambda _: None)
    assert (passed.points, passed.written, passed.removed) == (300, 4, 2)
    assert everything(new) == everything(old)
    assert bring(old, new, "documents", lambda _: None).changes == 0
    old.ask("DELETE", path("images and more"))
    old.ask("PUT", path("third"), DOCUMENTS)
    rename = [
        {"delete_alias": {"alias_name": "library"}},
        {"create_alias": {"alias_name": "library", "collection_name": "third"}},
    ]
    old.ask("POST", "/collections/aliases", {"actions": rename})
    keep(old, new, THREE, lambda _: None)
    assert held(new) == held(old) == ("documents", "third")
    assert aliases(new) == {"library": "third"}


def test_pages_are_as_small_as_their_points_are_large(filled, monkeypatch):
    monkeypatch.setattr("rackwright.rollout.qdrant.points.PAGE_BYTES", 4000)
    old, new = stores(filled)
    copy(filled).do()
    assert everything(new) == everything(old)


def test_a_copy_that_is_killed_anywhere_goes_on_where_it_was(filled):
    old, new = stores(filled)
    at, code = 0, 1
    while code:
        at += 1 + at // 4

        def act(at=at):
            half = copy(filled)
            half.old.ticks = half.new.ticks = Ticks(at)
            half.do()

        code = in_child(act)
        assert code in (0, -signal.SIGKILL)
        whole = copy(filled)
        assert whole.look().state in (State.ABSENT, State.TO_FINISH, State.DONE)
        whole.do()
        assert everything(new) == everything(old)
        whole.undo()
        assert held(new) == ()


def test_collections_of_somebody_else_are_not_touched(filled):
    _, new = stores(filled)
    new.ask("PUT", path("theirs"), DOCUMENTS)
    with pytest.raises(Refusal, match="phase-2 holds theirs, and is no copy of phase-1"):
        copy(filled).do()
    assert held(new) == ("theirs",)
    assert switch(stores(filled)[0]) is None


def test_a_collection_of_another_shape_is_told(filled):
    _, new = stores(filled)
    copy(filled).do()
    new.ask("DELETE", path("documents"))
    new.ask("PUT", path("documents"), {"vectors": {"size": 4, "distance": "Dot"}})
    words = "documents has a vector of 4 float32, Cosine here and a vector of 4 float32, Dot there"
    assert copy(filled).look().words == words
    with pytest.raises(Refusal, match=words):
        copy(filled).do()


def test_shards_of_their_own_naming_are_refused(filled):
    old, _ = stores(filled)
    old.ask("PUT", path("parted"), DOCUMENTS | {"sharding_method": "custom"})
    with pytest.raises(Refusal, match="sharding_method custom"):
        copy(filled).do()


def test_another_release_is_refused_before_anything_is_changed(filled):
    if not isinstance(filled[0], StandIn):
        pytest.skip("there is one release of a real store")
    filled[1].release = "1.18.3"
    with pytest.raises(Refusal, match=r"phase-1 is Qdrant 1.19.0, and phase-2 is 1.18.3"):
        copy(filled).do()
    assert not filled[1].collections


def test_a_wrong_key_and_a_closed_door_are_told(filled):
    address = filled[0].address
    with pytest.raises(Refusal, match=r"phase-1 refuses the key \(401\)"):
        held(Store("phase-1", [address], "another"))
    with pytest.raises(Refusal, match=r"phase-1 does not answer at http://127\.0\.0\.1:9"):
        held(Store("phase-1", ["http://127.0.0.1:9"], KEY))
    with pytest.raises(Refusal, match="is no address of a Qdrant"):
        held(Store("phase-1", ["127.0.0.1:6333"], KEY))
    assert KEY not in repr(Store("phase-1", [address], KEY))
