"""Whatever a series holds, advice is a sentence."""

import contextlib
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from rackwright.advice.advice import advice_data, advice_text
from rackwright.advice.advise import advise
from rackwright.errors import Refusal
from rackwright.observe.fitting import baselines
from rackwright.observe.series import Series
from rackwright.site.site import Site

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "observe"))
from recorded import ramp, recorded

LAB = Site.load(Path(__file__).resolve().parents[2] / "inventory" / "lab")
NAMES = (
    "queue", "running", "kv_usage", "gpu_utilisation", "ttft_p50", "ttft_p95", "ttft_p99", "ttft_usual",
    "tpot_p95", "e2e_p95",
    "hit_rate", "hit_rate_usual", "calls", "prompt_mean", "output_mean",
)  # fmt: skip
VALUES = some.one_of(
    some.none(),
    some.floats(allow_nan=True, allow_infinity=True),
    some.floats(0, 1),
    some.sampled_from([0.0, -1.0, 1e-300, 1e300, 1e9, 4000.0]),
)


@some.composite
def series(draw):
    steps = draw(some.integers(0, 80))
    figures = {}
    for name in draw(some.sets(some.sampled_from(NAMES))):
        level = draw(VALUES)
        values = [draw(VALUES) if draw(some.integers(0, 9)) == 0 else level for _ in range(steps)]
        figures[f"model:{name}"] = {draw(some.sampled_from(["llama-70b", "qwen3-32b", "", "?"])): tuple(values)}
    return Series(start=0, step_s=draw(some.sampled_from([1.0, 15.0, 1e6])), figures=figures)


@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(series(), some.sampled_from([1, 2]))
def test_advice_is_a_sentence(read, phase):
    try:
        said = advise(LAB, phase, read)
    except Refusal:
        return
    assert said
    assert advice_text(said)
    assert advice_data(said)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(series())
def test_a_baseline_is_one_or_a_sentence(read):
    with contextlib.suppress(Refusal):
        assert baselines(LAB, 1, read, "whatever it was")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("calls", -1.0, "calls_per_second is -1"),
        ("hit_rate", 1.5, "hit_rate is 1.5"),
        ("ttft_p50", -0.1, "ttft_ms.p50 is -100"),
        ("queue", -2.0, "queue_most is -2"),
    ],
)
def test_a_figure_that_cannot_be_is_refused_by_name(name, value, said):
    seen = {"calls": 2.0, "ttft_p50": 0.2, "ttft_p95": 0.3, "ttft_p99": 0.4}
    with pytest.raises(Refusal, match=said):
        baselines(LAB, 1, recorded(**(seen | {name: value})), "whatever it was")


@pytest.mark.parametrize("value", [1e300, -1.0, 1e-300, 0.0, 1e9])
@pytest.mark.parametrize("name", ["calls", "prompt_mean", "output_mean", "hit_rate", "ttft_p95", "kv_usage"])
def test_absurd_loads_are_advised_about(name, value):
    """With a queue, so that replicas are reckoned, and a rise, so that a division is."""
    loaded = {"queue": 500.0, "ttft_p95": ramp(0.3, 2.0), "ttft_usual": 0.3, "calls": 2.0}
    for phase in (1, 2):
        assert advise(LAB, phase, recorded(**(loaded | {name: value})))
        assert advise(LAB, phase, recorded(**(loaded | {"queue": 0.0, name: value})))
