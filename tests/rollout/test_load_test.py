"""The load of the baseline on both doors, by the real `rackwright bench` against stand-ins that speak like engines."""

import json
import shutil
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from played_world import ROOT

from rackwright.errors import Refusal
from rackwright.observe import baseline
from rackwright.rollout.load_test import Bench, Door, Figures, Load
from rackwright.rollout.world import State
from rackwright.site.site import Site

MODELS = ("llama-70b", "qwen3-32b")


class PlayedDoor:
    """A stand-in: every model answers four words, each after a while; `fails` says no."""

    def __init__(self):
        self.word_s, self.fails, self.asked = 0.002, False, []
        played = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                played.asked.append((self.path, body["model"], self.headers["authorization"]))
                self.send_response(503 if played.fails and len(played.asked) % 2 else 200)
                self.end_headers()
                for _ in range(4):
                    time.sleep(played.word_s)
                    self.wfile.write(f"data: {json.dumps({'choices': [{'delta': {'content': 'word'}}]})}\n\n".encode())
                    self.wfile.flush()

            def log_message(self, *arguments):
                """Tests speak for themselves."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def door(self, name):
        return Door(name, f"http://127.0.0.1:{self.server.server_address[1]}", None, "the-key-of-a-tenant")


@pytest.fixture
def doors():
    found = [PlayedDoor(), PlayedDoor()]
    yield found
    for each in found:
        each.server.shutdown()
        each.server.server_close()


@pytest.fixture
def bench(tmp_path):
    folder = tmp_path / "lab"
    shutil.copytree(ROOT / "inventory" / "lab", folder)
    site = Site.load(folder)
    few = site.model_copy(update={"workload": site.workload.model_copy(update={"users": 1, "agents": 3})})
    return Bench(few, folder, lambda _: None, seconds=1, warm_up_s=0)  # many at once wait for a played door's processor


def test_figures_are_kept_and_measured_anew_when_they_are_a_day_old(bench, doors):
    first, second = (each.door(name) for each, name in zip(doors, ("phase 1", "phase 2"), strict=True))
    act = Figures(bench, first, MODELS)
    assert act.look().state is State.ABSENT
    assert not act.recorded().passed
    act.do()
    assert act.look().state is State.DONE
    assert act.recorded().seen == "figures of 2 models are kept"
    assert {asked[:2] for asked in doors[0].asked} == {(f"/{model}/v1/chat/completions", model) for model in MODELS}
    assert {key for *_, key in doors[0].asked} == {"Bearer the-key-of-a-tenant"}
    assert "the-key-of-a-tenant" not in (bench.folder / "baseline.json").read_text()
    kept = bench.kept(first, "llama-70b")
    assert kept.ttft_ms.p95 > 0
    assert kept.calls_per_second > 0
    assert Figures(bench, second, MODELS).look().state is State.ABSENT  # another door's are not those
    later = Figures(bench, first, MODELS, lambda: datetime.now(UTC) + timedelta(hours=25))
    assert later.look().words == "no figures of today for llama-70b, qwen3-32b"
    earlier = Figures(bench, first, MODELS, lambda: datetime.now(UTC) - timedelta(hours=1))
    assert earlier.look().state is State.ABSENT  # from a clock that jumped


def test_stopped_half_way_it_goes_on_with_the_next_model(bench, doors):
    door = doors[0].door("phase 1")
    Figures(bench, door, MODELS[:1]).do()
    act = Figures(bench, door, MODELS)
    assert act.look().state is State.TO_FINISH
    doors[0].asked.clear()
    act.do()
    assert {model for _, model, _ in doors[0].asked} == {"qwen3-32b"}


def test_figures_that_somebody_recorded_of_another_load_do_not_count(bench, doors):
    found = baseline.Baseline().with_model(baseline.ModelBaseline(model="llama-70b", source="30 minutes of prometheus"))
    baseline.save(found, bench.folder)
    assert Figures(bench, doors[0].door("phase 1"), MODELS[:1]).look().state is State.ABSENT


def test_the_other_door_is_held_against_them(bench, doors):
    """The doors differ by so much that no busy machine makes them alike."""
    bench = replace(bench, seconds=2)
    first, second = (each.door(name) for each, name in zip(doors, ("phase 1", "phase 2"), strict=True))
    load = Load(bench, first, second, MODELS[:1])
    with pytest.raises(Refusal, match="No figures of llama-70b are kept"):
        load.do()
    doors[0].word_s = 0.2
    Figures(bench, first, MODELS[:1]).do()
    assert load.look().state is State.ABSENT
    assert load.carried().seen == "not laid yet"
    load.do()
    assert load.look().state is State.DONE
    assert load.carried().passed, load.carried()
    doors[1].word_s = 0.4
    load.do()
    reading = load.carried()
    assert not reading.passed
    assert "P95" in reading.seen
    assert "before" in reading.seen
    doors[1].word_s, doors[1].fails = 0.001, True
    load.do()
    assert not load.carried().passed
    assert "times HTTP 503" in load.carried().seen


def test_a_door_where_nobody_is_is_one_sentence(bench):
    with pytest.raises(Refusal, match=r"127\.0\.0\.1:9 does not answer \(Connection refused\)"):
        Figures(bench, Door("phase 1", "http://127.0.0.1:9", None, "key"), MODELS).do()
