"""Every query on a real Prometheus, fed with made-up series of a small rack; every panel returns data there."""

import contextlib
import json
import math
import socket
import subprocess
import time
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import yaml
from generated_series import Behaviour, rack

from rackwright.errors import Refusal
from rackwright.observe import rules
from rackwright.observe.dashboards import BOARDS, dashboards
from rackwright.observe.figures import FIGURES
from rackwright.observe.prometheus import Prometheus

MINUTES = 100
BUSY = Behaviour(minutes=MINUTES, queue=60, ttft=2.0, hit=0.7)


def open_metrics(how, end):
    """The series as OpenMetrics with times, family by family, the last minute being now."""
    families = {}
    for series, values in rack(how).items():
        families.setdefault(series.partition("{")[0], []).append((series, values))
    for name, members in families.items():
        yield f"# TYPE {name} unknown"
        for series, values in members:
            for minute, value in enumerate(values):
                if value is not None:
                    yield f"{series} {value:.10g} {end - 60 * (len(values) - 1 - minute)}"
    yield "# EOF"


@pytest.fixture(scope="module")
def server(prometheus, promtool, lab, catalog, measured, tmp_path_factory):
    """A Prometheus whose rules have been evaluated over what it was fed."""
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "fed").write_text("\n".join(open_metrics(BUSY, int(time.time()))) + "\n")
    feed = [promtool, "tsdb", "create-blocks-from", "openmetrics", folder / "fed", folder / "data"]
    fed = subprocess.run(feed, capture_output=True, text=True, check=False)
    assert fed.returncode == 0, fed.stdout + fed.stderr
    groups = [group | {"interval": "1s"} for group in rules.groups(lab, 1, catalog, measured)]
    for rule in (rule for group in groups for rule in group["rules"] if "alert" in rule):
        rule["for"] = "0s"  # what must hold for minutes is promtool's to test
    (folder / "rules.yml").write_text(yaml.safe_dump({"groups": groups}))
    (folder / "prometheus.yml").write_text(yaml.safe_dump({"rule_files": ["rules.yml"]}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    process = subprocess.Popen(
        [prometheus, *options, f"--web.listen-address=127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL,
        stderr=(folder / "log").open("w"),
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(lambda: urlopen(f"{address}/-/ready").status == 200, process, folder / "log")
        _wait(lambda: _evaluated(address) >= 3, process, folder / "log")
        yield Prometheus(address)
    finally:
        process.terminate()
        process.wait()


def _evaluated(address):
    """How often the slowest group was evaluated, each in the order in which groups depend on one another."""
    with urlopen(f"{address}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    counts = [float(line.rpartition(" ")[2]) for line in lines if line.startswith("prometheus_rule_evaluations_total{")]
    rule_counts = [len(group["rules"]) for group in _groups(address)]
    return min((count / most for count, most in zip(sorted(counts), sorted(rule_counts), strict=False)), default=0)


def _groups(address):
    with urlopen(f"{address}/api/v1/rules") as answer:
        return json.load(answer)["data"]["groups"]


def _wait(condition, process, log):
    """Until it holds; a dead server ends it, and so does a minute and a half."""
    end = time.monotonic() + 90
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(URLError, OSError):
            if condition():
                return
        time.sleep(0.2)
    raise AssertionError(log.read_text()[-2000:])


def numbers(answer):
    return [float(each["value"][1]) for each in answer]


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_is_a_number_there(server, name):
    figure = FIGURES[name]
    for expression in (figure.expression, figure.record):
        values = numbers(server.query(expression))
        assert values, expression
        assert all(math.isfinite(value) for value in values)
        assert figure.unit != "ratio" or all(0 <= value <= 1 for value in values), values


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_each_panel_returns_data(server, board):
    for panel in dashboards()[f"rackwright-{board.name}.json"]["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$model", ".*").replace("$host", ".*")
            assert numbers(server.query(expression)), (panel["title"], expression)


def test_figures_are_what_was_fed(server):
    by_model = {
        each["metric"]["model_name"]: float(each["value"][1]) for each in server.query(FIGURES["model:queue"].record)
    }
    assert by_model == {"llama-70b": 60, "qwen3-32b": 120}
    (calls,) = numbers(server.query(f'{FIGURES["model:calls"].record}{{model_name="llama-70b"}}'))
    assert calls == pytest.approx(2.0, rel=0.02)
    (hit_rate,) = numbers(server.query(f'{FIGURES["model:hit_rate"].record}{{model_name="llama-70b"}}'))
    assert hit_rate == pytest.approx(0.7, rel=0.01)


def test_rules_are_healthy_and_their_words_filled_in(server):
    firing = {}
    for group in _groups(server.address):
        for rule in group["rules"]:
            assert rule["health"] == "ok", rule
            for alert in rule.get("alerts", []):
                firing.setdefault(rule["name"], []).append(alert["annotations"])
    assert {"QueueTooLong", "FirstTokenOverTarget"} <= set(firing)
    words = json.dumps(firing)
    assert "error expanding" not in words
    assert "<no value>" not in words
    assert "More calls wait for llama-70b" in words


def test_a_prometheus_is_read_at_even_steps(server):
    figures = [FIGURES["model:queue"], FIGURES["gpu:utilisation"]]
    series = server.read(figures, seconds=600, step_s=60)
    assert set(series.figures) == {"model:queue", "gpu:utilisation"}
    assert series.last("model:queue", "llama-70b") == 60
    assert len(series.figures["gpu:utilisation"]) == 8
    assert {len(values) for values in series.figures["model:queue"].values()} == {11}


def test_what_is_no_prometheus_is_one_sentence(tmp_path):
    with pytest.raises(Refusal, match="does not answer"):
        Prometheus("http://127.0.0.1:9").query("up")
    with pytest.raises(Refusal, match="no address"):
        Prometheus(f"file://{tmp_path}")


def test_dashboards_are_valid_and_small():
    boards = dashboards()
    assert len(json.dumps(boards)) < 2**19
    shown = set()
    for board in boards.values():
        assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
        places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
        assert len(set(places)) == len(places)
        shown |= {target["expr"].partition("{")[0] for panel in board["panels"] for target in panel["targets"]}
    assert {figure.record for figure in FIGURES.values()} <= shown | {"rackwright:model:gpu_utilisation"}
