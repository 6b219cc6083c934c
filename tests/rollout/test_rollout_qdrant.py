"""The collections' steps on two stores, while applications write and remember what they were told.

The stores are stand-ins (qdrant_stand_in.py). RACKWRIGHT_QDRANT names the program of a real one, and they run on two of
those as well.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from uuid import UUID

import pytest
from played_world import PlayedWorld, Ticks, in_child, lab
from qdrant_stand_in import StandIn
from waiting import until

from rackwright.errors import Refusal
from rackwright.rollout.journal import read
from rackwright.rollout.qdrant.acts import Copy, CutOver
from rackwright.rollout.qdrant.golden import Golden
from rackwright.rollout.qdrant.kept import follow, held, keep
from rackwright.rollout.qdrant.operations import operations
from rackwright.rollout.qdrant.passes import bring
from rackwright.rollout.qdrant.shape import Spread
from rackwright.rollout.qdrant.steps import steps
from rackwright.rollout.qdrant.store import Store, aliases, count, path
from rackwright.rollout.qdrant.switch import SWITCH, Sides, Switch, application_key, switch, turn
from rackwright.rollout.world import State, World

KEY = "the-key-of-the-store"
ONE, THREE = Spread(6, 1), Spread(6, 2)
DOCUMENTS = {"vectors": {"size": 4, "distance": "Cosine"}}
IMAGES = {
    "vectors": {
        "small": {"size": 3, "distance": "Dot"},
        "far": {"size": 2, "distance": "Euclid"},
        "many": {"size": 2, "distance": "Cosine", "multivector_config": {"comparator": "max_sim"}},
    },
    "sparse_vectors": {"words": {"modifier": "idf"}},
}


class RealStore:
    """A real Qdrant of this machine."""

    def __init__(self, program, folder, port):
        self.folder, self.address, self.key = folder, f"http://127.0.0.1:{port}", KEY
        settings = {
            "SERVICE__HTTP_PORT": port, "SERVICE__GRPC_PORT": port + 1, "SERVICE__API_KEY": KEY,
            "SERVICE__JWT_RBAC": "true", "STORAGE__STORAGE_PATH": folder, "STORAGE__SNAPSHOTS_PATH": folder,
            "SERVICE__HOST": "127.0.0.1", "TELEMETRY_DISABLED": "true",
        }  # fmt: skip
        environment = os.environ | {f"QDRANT__{name}": str(value) for name, value in settings.items()}
        self.process = subprocess.Popen([program], env=environment, cwd=folder, stdout=subprocess.DEVNULL)

    def end(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


@pytest.fixture(params=["stand-in", "real"])
def both(request, tmp_path):
    """Phase 1's and phase 2's."""
    if request.param == "stand-in":
        found = [StandIn(), StandIn()]
    else:
        program = os.environ.get("RACKWRIGHT_QDRANT")
        if not program:
            pytest.skip("NO QDRANT: nothing was tried on a real one. RACKWRIGHT_QDRANT names its program")
        found = [RealStore(program, tmp_path / str(port), port) for port in (16333, 16343)]
    old, new = stores(found)
    until(lambda: answers(old) and answers(new), "no store")
    yield found
    for each in found:
        each.end()


def answers(store):
    with suppress(Refusal):
        return bool(store.ask("GET", "/"))
    return False


class Ticked(Store):
    """May be killed before and after each request."""

    ticks = staticmethod(lambda: None)

    def send(self, *words):
        self.ticks()
        answer = super().send(*words)
        self.ticks()
        return answer


def stores(both):
    return [Ticked(name, [each.address], KEY) for name, each in zip(("phase-1", "phase-2"), both, strict=True)]


def copy(both):
    return Copy(*stores(both), THREE, lambda _: None)


def cut_over(both):
    return CutOver(*stores(both), THREE, ONE, lambda _: None)


@pytest.fixture
def filled(both):
    """Phase 1 with two collections of all kinds of vectors, ids, payloads."""
    old, _ = stores(both)
    chance = random.Random(7)
    old.ask("PUT", path("documents"), DOCUMENTS | {"shard_number": 2})
    old.ask("PUT", path("images and more"), IMAGES)
    old.ask("PUT", path("documents", "index") + "?wait=true", {"field_name": "city", "field_schema": "keyword"})
    text = {"type": "text", "tokenizer": "word"}
    old.ask("PUT", path("documents", "index") + "?wait=true", {"field_name": "a.b", "field_schema": text})
    alias = {"create_alias": {"alias_name": "library", "collection_name": "documents"}}
    old.ask("POST", "/collections/aliases", {"actions": [alias]})
    write(old, "documents", [document(chance, name) for name in range(300)])
    write(old, "images and more", [image(chance, name) for name in names(chance, 60)])
    return both


def names(chance, number):
    return [str(UUID(int=chance.getrandbits(128))) for _ in range(number)]


def document(chance, name):
    payload = {
        "city": chance.choice(["Bern", "Köln", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")])
    }
    payload |= {"deep": {"list": [1, 2.5, None, {"id": name}]}, "big": 2**53 + name}
    return {"id": name, "vector": [chance.gauss(0, 3) for _ in range(4)], "payload": payload}


def image(chance, name):
    vector = {"small": [chance.random() for _ in range(3)], "far": [chance.random(), 9.0]}
    vector |= {"many": [[chance.random(), 1.0], [0.5, chance.random()]]}
    vector |= {"words": {"indices": [1, 7], "values": [0.5, chance.random()]}}
    if chance.random() < 0.3:
        del vector["far"]
    return {"id": name, "vector": vector}


def write(store, collection, points):
    store.ask("PUT", path(collection, "points") + "?wait=true", {"points": points})


def everything(store):
    """All points of all collections, as a client sees them."""
    found = {}
    for name in held(store):
        body = {"limit": 100_000, "with_vector": True}
        for point in store.result("POST", path(name, "points", "scroll"), body)["points"]:
            found[name, point["id"]] = (point["payload"], point["vector"])
    return found


class Writer:
    """An application with its own key: it writes, changes and removes points, and never forgets what it was told."""

    def __init__(self, both, number):
        self.both, self.number, self.told, self.unsure = both, number, {}, set()
        self.at, self.refused = [], 0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def end(self):
        self._ends.set()
        self._thread.join(60)
        assert not self._thread.is_alive()

    def _write(self):
        chance, turns = random.Random(self.number), 0
        while not self._ends.is_set():
            turns += 1
            name = 1000 * (self.number + 1) + chance.randrange(40)
            removes = chance.random() < 0.3
            body = (
                {"points": [name]}
                if removes
                else {"points": [{"id": name, "vector": [0, 0, 0, 0], "payload": {"turn": turns}}]}
            )
            method, where = ("POST", "points/delete") if removes else ("PUT", "points")
            wait = chance.choice(["true", "false"])
            for each in self.both:
                answer = self._ask(method, f"{each.address}/collections/library/{where}?wait={wait}", body)
                if answer is None:  # nobody knows
                    self.unsure.add(name)
                if answer:
                    self.told[name] = None if removes else turns
                    self.unsure.discard(name)
                    self.at.append(time.monotonic())
                    break
            else:
                self.refused += 1
            time.sleep(0.002)

    def _ask(self, method, address, body):
        headers = {"api-key": application_key(KEY), "content-type": "application/json"}
        request = urllib.request.Request(address, json.dumps(body).encode(), headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30):
                return True
        except urllib.error.HTTPError as error:
            return False if error.code in (401, 403, 404) else None
        except OSError:
            return None


@pytest.fixture
def writers(filled, monkeypatch):
    """How long anything takes is a figure of the machine that this runs on, and here it is busy with other tests."""
    for bound in ("REFUSED_S", "IN_A_PAUSE_S"):
        monkeypatch.setattr(f"rackwright.rollout.qdrant.acts.{bound}", 300)
    copy(filled).do()
    found = [Writer(filled, number) for number in range(3)]
    until(lambda: all(len(writer.told) > 10 for writer in found), "nothing was written")
    yield found
    for writer in found:
        writer.end()


def goes_on(writers):
    before = [len(writer.at) for writer in writers]
    until(lambda: all(len(each.at) > n + 5 for each, n in zip(writers, before, strict=True)), "writes do not go on")


def lost(writers, store):
    """What applications were told, and is otherwise in a store. They stand still meanwhile."""
    for writer in writers:
        writer.end()
    old = everything(store)
    seen = {name: payload.get("turn") for (collection, name), (payload, _) in old.items() if collection == "documents"}
    told = {name: turn for each in writers for name, turn in each.told.items() if name not in each.unsure}
    return {name: (turn, seen.get(name)) for name, turn in told.items() if seen.get(name) != turn}


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


def test_limits_for_applications_come_with_their_writes(filled):
    old, new = stores(filled)
    limits = {"enabled": True, "upsert_max_batchsize": 10}
    old.ask("PATCH", path("documents"), {"strict_mode_config": limits})
    copy(filled).do()
    assert not (new.result("GET", path("documents"))["config"].get("strict_mode_config") or {}).get("enabled")
    cut_over(filled).do()
    assert new.result("GET", path("documents"))["config"]["strict_mode_config"]["upsert_max_batchsize"] == 10


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
