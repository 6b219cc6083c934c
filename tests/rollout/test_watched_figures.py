"""The gates that watch traffic, against a stand-in for Prometheus that answers what it is told."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest
from played_world import PlayedWorld, lab

from rackwright.errors import Refusal
from rackwright.observe.prometheus import Prometheus
from rackwright.rollout.figures import holding
from rackwright.rollout.gates import Reading
from rackwright.rollout.journal import read
from rackwright.rollout.way import way

BOTH = ("llama-70b", "qwen3-32b")


class PlayedPrometheus:
    """A stand-in: of each figure a value by model, of each expression a number."""

    def __init__(self):
        self.models: dict[str, dict[str, float]] = {}
        self.numbers: dict[str, float] = {}
        played = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = {name: values[0] for name, values in parse_qs(self._body()).items()}
                result = played.range(asked) if self.path.endswith("query_range") else played.now(asked["query"])
                text = json.dumps({"status": "success", "data": {"result": result}}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def _body(self):
                return self.rfile.read(int(self.headers["content-length"])).decode()

            def log_message(self, *arguments):
                """Tests speak for themselves."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def client(self):
        return Prometheus(f"http://127.0.0.1:{self.server.server_address[1]}")

    def range(self, asked):
        found = self.models.get(asked["query"].removeprefix("rackwright:model:"), {})
        end = float(asked["end"])
        return [{"metric": {"model_name": name}, "values": [[end, str(value)]]} for name, value in found.items()]

    def now(self, expression):
        found = [number for part, number in self.numbers.items() if part in expression]
        return [{"metric": {}, "value": [time.time(), str(number)]} for number in found]


@pytest.fixture
def prometheus():
    found = PlayedPrometheus()
    found.models = {"ttft_p95": dict.fromkeys(BOTH, 0.4), "tpot_p95": dict.fromkeys(BOTH, 0.02)}
    found.models["queue"] = dict.fromkeys(BOTH, 0)
    found.numbers = {"rq_completed": 200.0, "rq_xx": 0.0}
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def gates(prometheus):
    return holding(way(lab()), prometheus.client, prometheus.client)


def test_all_is_well(gates):
    readings = {name: gate() for name, gate in gates.items()}
    assert all(reading.passed for reading in readings.values()), readings
    assert readings["first-token"].seen == "llama-70b 400 ms, qwen3-32b 400 ms"
    assert readings["first-token"].wanted == "llama-70b at most 1000 ms, qwen3-32b at most 1000 ms"
    assert readings["errors"].seen == "0 faults in 200 answers of 5m"


@pytest.mark.parametrize(
    ("gate", "figure", "value", "seen"),
    [
        ("first-token", "ttft_p95", 1.7, "qwen3-32b 1700 ms"),
        ("further-tokens", "tpot_p95", 0.08, "qwen3-32b 80 ms"),
        ("queue", "queue", 9000, "qwen3-32b 9000"),
    ],
)
def test_one_model_over_its_limit_fails_with_the_figure(prometheus, gates, gate, figure, value, seen):
    prometheus.models[figure]["qwen3-32b"] = value
    reading = gates[gate]()
    assert not reading.passed
    assert not reading.is_unseen
    assert seen in reading.seen


def test_a_fault_of_the_other_door_fails(prometheus, gates):
    prometheus.numbers["rq_xx"] = 3.0
    assert gates["errors"]() == Reading(False, "3 faults in 200 answers of 5m", "no answer that is a server's fault")
    prometheus.numbers = {"rq_xx": 3.0}  # where nothing could be reached
    assert gates["errors"]().seen == "3 faults in 3 answers of 5m"


def test_what_nobody_asked_for_is_not_seen_yet(prometheus, gates):
    prometheus.models["ttft_p95"] = {"llama-70b": 0.4}
    prometheus.numbers = {}
    assert gates["first-token"]().is_unseen
    assert "nobody asked for qwen3-32b" in gates["first-token"]().seen
    assert gates["errors"]().is_unseen


def test_one_that_fails_is_told_though_another_is_not_seen_yet(prometheus, gates):
    prometheus.models["ttft_p95"] = {"llama-70b": 4}
    assert not gates["first-token"]().is_unseen


def test_a_held_step_waits_to_its_end_for_what_there_is_to_see(tmp_path, monkeypatch):
    world = PlayedWorld(tmp_path, lab())
    world.run(until="proof")
    seen = []

    def read_gate(self, key, _):
        def reading():
            if key != "traffic/share-1 first-token":
                return Reading(True, "well", "well")
            seen.append(self.clock.now)
            return Reading(False, "nobody asked", "well", is_unseen=True)

        return reading

    monkeypatch.setattr(PlayedWorld, "gate", read_gate)
    began = world.clock.now
    with pytest.raises(Refusal, match="traffic/share-1 stops at the gate first-token: nobody asked"):
        world.run()
    assert seen[-1] - began == world.site.rollout.hold_s
    assert len(seen) > 10
    assert world.word("traffic/share-1") == "undone"
    assert [entry.data["seen"] for entry in read(tmp_path) if entry.step == "traffic/share-1" and "seen" in entry.data][
        -1
    ] == "nobody asked"
