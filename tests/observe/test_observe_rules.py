"""Every rule before promtool: fires, stays silent, and says so where a metric is absent; both forms of GPU labels."""

import re
import subprocess
from dataclasses import replace

import pytest
import yaml
from generated_series import GIB, PODS, Behaviour, rack

from rackwright.observe import rules
from rackwright.observe.figures import by_pool
from rackwright.observe.triggers import TRIGGERS, figures_of
from rackwright.site.kserve_names import pool

ALL = 'group by (alertname) (ALERTS{alertstate="firing"})'


def from_minute(start, value, before):
    """Another value from one minute on."""
    return lambda minute: value if minute >= start else before


def spike(value, before):
    """One minute of it."""
    return lambda minute: value if minute == 25 else before


def without(prefix, start=0):
    """Series whose names begin so are not scraped from a minute on."""
    return lambda series, minute: series.startswith(prefix) and minute >= start


# By trigger: behaviour under which it fires, and the minute from which its condition holds.
FIRES = {
    "GpuBusyAndBehind": (Behaviour(gpu=from_minute(20, 0.95, 0.5), kv=from_minute(20, 0.97, 0.4)), 20, set()),
    "QueueTooLong": (Behaviour(queue=from_minute(20, 60, 0)), 20, set()),
    "FirstTokenOverTarget": (Behaviour(ttft=from_minute(15, 2.0, 0.4)), 16, set()),
    "FurtherTokensOverTarget": (Behaviour(tpot=from_minute(15, 0.2, 0.02)), 16, set()),
    "CacheHitRateFalls": (Behaviour(minutes=140, hit=from_minute(100, 0.1, 0.7)), 101, set()),
    "FirstTokenSlowWhileGpusAreNotFull": (Behaviour(minutes=140, ttft=from_minute(100, 0.9, 0.2)), 101, set()),
    "StorageNearLimit": (Behaviour(drives=from_minute(15, 4.9e9, 2e8)), 19, set()),
    "DriveBusyAndSlow": (Behaviour(busy=from_minute(15, 0.99, 0.2), reads=from_minute(15, 0.02, 1e-4)), 19, set()),
    "VectorSearchSlow": (Behaviour(search=from_minute(15, 0.2, 0.008)), 16, set()),
    "VectorsOutgrowMemory": (Behaviour(memory=from_minute(15, 120 * GIB, 20 * GIB)), 15, set()),
    "VolumeNearlyFull": (Behaviour(used=from_minute(10, 0.9, 0.89)), 0, set()),
    "VolumeFullSoon": (Behaviour(used=lambda minute: 0.3 + minute * 0.0004), 1, set()),
    "ConnectionsNearlyUsedUp": (Behaviour(connections=from_minute(10, 390, 60)), 10, set()),
    "CachesDoNotMove": (Behaviour(lost=from_minute(15, 0.5, 0)), 15, set()),
    "TokensNotCounted": (Behaviour(uncounted=from_minute(15, 2.0, 0)), 15, set()),
}
SILENT = {
    "a healthy rack": Behaviour(minutes=90),
    "a healthy rack whose scrape renamed labels": Behaviour(renamed=True),
    "busy GPUs alone": Behaviour(gpu=1.0),
    "a full cache alone": Behaviour(kv=0.97, gpu=0.5),
    "drives that are never idle alone": Behaviour(busy=1.0),
    "slow requests at a drive with time to spare": Behaviour(reads=0.02, writes=0.02, busy=0.5),
    "a drive that is overrun for five minutes": Behaviour(
        busy=lambda minute: 0.99 if 20 <= minute < 25 else 0.2, reads=lambda minute: 0.02 if 20 <= minute < 25 else 1e-4
    ),
    "a queue of a minute": Behaviour(queue=spike(500, 0)),
    "one slow minute": Behaviour(search=spike(0.2, 0.008), connections=spike(390, 60)),
    "nobody calls": Behaviour(minutes=125, calls=from_minute(90, 0.0, 2.0), hit=from_minute(90, 0.0, 0.7)),
    "memory that grows and will fit": Behaviour(memory=lambda minute: 20 * GIB + minute * 1e5),
}
# By alert: what is not scraped from minute 10 on, and all that fires ten minutes later.
ABSENT = {
    "EngineMetricsAbsent": ("vllm:", {"EngineMetricsAbsent"}),
    "GpuMetricsAbsent": ("DCGM_", {"GpuMetricsAbsent"}),
    "VectorMetricsAbsent": ("collections_total", {"VectorMetricsAbsent"}),
    "DatabaseMetricsAbsent": ("cnpg_", {"DatabaseMetricsAbsent"}),
    "DriveMetricsAbsent": ("node_disk_", {"DriveMetricsAbsent"}),
    "VolumeMetricsAbsent": ("kubelet_", {"VolumeMetricsAbsent"}),
    "GatewayMetricsAbsent": ("envoy_", {"GatewayMetricsAbsent"}),
}


def spell(values):
    return " ".join("_" if value is None else f"{value:.10g}" for value in values)


def case(name, how, expected):
    """One of promtool's tests: all that fires at each of some minutes."""
    series = [{"series": series, "values": spell(values)} for series, values in rack(how).items()]
    asked = [
        {
            "expr": ALL,
            "eval_time": f"{minute}m",
            "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in sorted(alerts)],
        }
        for minute, alerts in expected.items()
    ]
    return {"name": name, "interval": "1m", "input_series": series, "promql_expr_test": asked}


def after(seconds):
    """Minutes until something that must hold so long is seen to have, at one evaluation a minute."""
    return -(-seconds // 60) + 5


@pytest.fixture(scope="session")
def written(lab, catalog, measured, tmp_path_factory):
    """The rules of a phase as a file."""

    def write(phase):
        file = tmp_path_factory.mktemp("rules") / "rules.yml"
        file.write_text(yaml.safe_dump({"groups": rules.groups(lab, phase, catalog, measured)}))
        return file

    return write


@pytest.fixture(scope="session")
def rule_file(written):
    return written(1)


def judged(promtool, rule_file, cases):
    """Run promtool's tests; all of its complaints."""
    file = rule_file.with_name("tests.yml")
    file.write_text(yaml.safe_dump({"rule_files": [str(rule_file)], "evaluation_interval": "1m", "tests": cases}))
    done = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def test_promtool_takes_every_rule(promtool, rule_file):
    done = subprocess.run([promtool, "check", "rules", rule_file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_trigger_has_a_case():
    assert set(FIRES) == {trigger.name for trigger in TRIGGERS}


@pytest.mark.parametrize("renamed", [False, True], ids=["labels kept", "labels renamed"])
def test_each_trigger_fires_when_it_should_and_not_before(promtool, rule_file, renamed):
    cases = []
    for trigger in TRIGGERS:
        if renamed and "model:gpu_utilisation" not in figures_of(trigger.condition):
            continue
        how, holds_from, others = FIRES[trigger.name]
        fires_at = holds_from + after(trigger.for_s)
        before = max(holds_from + trigger.for_s // 60 - 2, 0)
        how = replace(how, renamed=renamed, minutes=fires_at + 1)
        cases.append(case(trigger.name, how, {before: set(), fires_at: {trigger.name} | others}))
    assert not judged(promtool, rule_file, cases)


def test_nothing_fires_without_reason(promtool, rule_file):
    cases = [
        case(name, how, {minute: set() for minute in (*range(10, how.minutes, 10), 27, 29)})
        for name, how in SILENT.items()
    ]
    assert not judged(promtool, rule_file, cases)


def test_what_is_absent_is_told(promtool, rule_file):
    """While the same metrics would fire something, were they there."""
    cases = [
        case(alert, Behaviour(gone=without(prefix, 10)), {14: set(), 26: alerts})
        for alert, (prefix, alerts) in ABSENT.items()
    ]
    one = 'model_name="qwen3-32b"'
    gone = Behaviour(gone=lambda series, _: one in series)
    cases.append(case("one model of two", gone, {26: {"EngineMetricsAbsent"}}))
    assert not judged(promtool, rule_file, cases)


def test_a_limit_that_was_not_measured_makes_no_alert(lab, catalog):
    names = {rule["alert"] for group in rules.groups(lab, 1, catalog) for rule in group["rules"] if "alert" in rule}
    assert "StorageNearLimit" not in names
    assert {"QueueTooLong", "CacheHitRateFalls", "DriveBusyAndSlow"} <= names


def test_a_drive_is_told_by_its_writes_alone(promtool, rule_file):
    how = Behaviour(busy=from_minute(15, 0.99, 0.2), writes=from_minute(15, 0.02, 3e-5))
    assert not judged(promtool, rule_file, [case("writes", how, {20: set(), 34: {"DriveBusyAndSlow"}})])


def test_calls_that_wait_in_the_router_are_a_queue_and_a_late_first_token(promtool, written):
    """Engines behind a router that holds calls back have none that wait, and answer what they get in time."""
    held = Behaviour(held=from_minute(20, 60, 0), waits=from_minute(20, 9.0, 0.002))
    cases = [
        case("held", held, {19: set(), 34: {"QueueTooLong", "FirstTokenOverTarget"}}),
        case("no router", Behaviour(gone=without("llm_d_epp_", 10)), {14: set(), 26: {"RouterMetricsAbsent"}}),
    ]
    assert not judged(promtool, written(2), cases)


def test_a_pool_that_kserve_named_is_told_by_its_model():
    (pattern,) = re.findall(r'"inference_pool", "(.*)"\)$', by_pool("x"))
    assert [re.fullmatch(pattern, each)[1] for each in ("m", pool("m"), "m-inference")] == ["m", "m", "m-inference"]


def test_what_a_site_does_not_have_is_not_missed():
    named = {rule["alert"] for rule in rules.absences(PODS, has_gpus=False, has_router=False)}
    assert not named & {"GpuMetricsAbsent", "RouterMetricsAbsent"}
