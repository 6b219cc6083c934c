"""`advise`, `baseline` and `bench` as processes: answers, files, and one sentence for what is wrong."""

import http.server
import json
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "observe"))
from recorded import ramp, recorded

from rackwright.observe.series import save


@pytest.fixture
def series(tmp_path):
    file = tmp_path / "series.json"
    save(recorded(queue=ramp(0, 40), ttft_p95=ramp(0.2, 2.2)), file)
    return file


class Engine(http.server.BaseHTTPRequestHandler):
    """A stand-in of an engine: four words, then the usage."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        events = [{"choices": [{"delta": {"content": "word"}}]}] * 4
        events.append({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 4}})
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def endpoint():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_recorded_figures_are_judged(rackwright, series):
    done = rackwright("advise", "lab", "--series", series, "--json")
    assert done.returncode == 0, done.stderr
    advice = json.loads(done.stdout)["advice"]
    assert {each["subject"] for each in advice} == {"llama-70b", "qwen3-32b"}
    assert all(each["rests_on"] for each in advice)
    assert "No baseline was recorded" in done.stderr


def test_a_baseline_is_kept_beside_the_site_and_read_again(rackwright, lab, series):
    done = rackwright("baseline", lab, "--series", series, "--storage", "gpu-01=12.5")
    assert done.returncode == 0, done.stderr
    kept = json.loads((lab / "baseline.json").read_text())
    assert kept["storage"] == {"gpu-01": 12.5e9}
    assert kept["models"][0]["queue"] == pytest.approx(16, rel=0.1)
    assert "No baseline" not in rackwright("advise", lab, "--series", series).stderr
    (lab / "baseline.json").write_text("{")
    broken = rackwright("advise", lab, "--series", series)
    assert broken.returncode == 1
    assert "Traceback" not in broken.stderr


def test_a_load_test_becomes_a_baseline(rackwright, lab, endpoint, tmp_path):
    out = tmp_path / "run.json"
    told = ("--model", "llama-70b", "--seconds", "30", "--calls", "3", "--out", out, "--json")
    done = rackwright("bench", endpoint, *told)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["calls"] >= 3
    recorded_from = rackwright("baseline", lab, "--bench", out)
    assert recorded_from.returncode == 0, recorded_from.stderr
    assert "rackwright bench, closed loop, chat" in recorded_from.stdout
    other = rackwright("baseline", "workstation", "--bench", out)
    assert other.returncode == 1
    assert "llama-70b" in other.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("advise", "lab"), 2, "either --prometheus URL or --series FILE"),
        (("advise", "lab", "--prometheus", "http://127.0.0.1:9"), 1, "does not answer"),
        (("advise", "lab", "--prometheus", "localhost:9090"), 1, "no address of a Prometheus"),
        (("advise", "lab", "--series", "nowhere.json"), 1, "cannot be read"),
        (("advise", "workstation", "--series", "nowhere.json", "--phase", "2"), 1, ""),
        (("baseline", "lab", "--storage", "gpu-99=1"), 2, "is not HOST=GB/S"),
        (("baseline", "lab", "--bench", "nowhere.json"), 1, "cannot be read"),
        (
            ("bench", "http://127.0.0.1:9/v1", "--model", "m", "--seconds", "1"),
            1,
            "127.0.0.1:9 does not answer (Connection refused)",
        ),
        (("bench", "llm.lab", "--model", "m"), 1, "is no address"),
        (("bench", "http://h/v1", "--model", "m", "--sessions", "1", "--rate", "1"), 2, "name one of them"),
        (("bench", "http://h/v1", "--model", "m", "--seconds", "5", "--warm-up", "9"), 2, "leaves nothing"),
    ],
)
def test_what_is_wrong_is_one_sentence(rackwright, words, code, said):
    done = rackwright(*words)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
