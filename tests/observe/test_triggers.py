"""Triggers over recorded series whose answer is known."""

import pytest
from recorded import STEP, STEPS, at_step, ramp, recorded

from rackwright.observe.judge import judge
from rackwright.observe.limits import GPU_FOR, QUEUE_FOR, limits
from rackwright.observe.rules import groups
from rackwright.observe.trend import trend
from rackwright.site.models import Model


@pytest.fixture
def fired(lab, measured):
    """Names of the triggers that fired, of those that still do, and when."""

    def run(series, baseline=measured):
        return {each.trigger.name: each for each in judge(series, limits(lab, 1, baseline))}

    return run


def test_a_healthy_model_fires_nothing(fired):
    assert fired(recorded()) == {}


def test_a_ramp_fires_once_it_has_been_over_long_enough(fired):
    found = fired(recorded(queue=ramp(0, 40)))
    over = next(step for step in range(STEPS) if ramp(0, 40)(step) > 20)
    assert found["QueueTooLong"].first_s == pytest.approx(over * STEP + QUEUE_FOR)
    assert found["QueueTooLong"].lasts


def test_a_spike_fires_nothing(fired):
    spike = at_step(80, 80 + int(QUEUE_FOR / STEP) - 1, 500, 0)
    assert fired(recorded(queue=spike, ttft_p95=at_step(80, 82, 30.0, 0.4))) == {}


def test_a_spike_that_lasts_fires_and_is_over(fired):
    found = fired(recorded(queue=at_step(80, 100, 500, 0)))
    assert set(found) == {"QueueTooLong"}
    assert not found["QueueTooLong"].lasts


def test_one_long_call_shows_a_full_gpu_and_fires_nothing(fired):
    """Utilisation says that a kernel ran, not that the GPU was full."""
    assert fired(recorded(gpu_utilisation=1.0, running=1.0, kv_usage=0.02)) == {}


def test_busy_gpus_with_a_full_cache_fire_after_five_minutes(fired):
    found = fired(recorded(gpu_utilisation=0.95, kv_usage=0.97))
    assert found["GpuBusyAndBehind"].first_s == GPU_FOR


def test_a_dead_exporter_fires_nothing_by_itself(fired):
    """GPU metrics end while the rest goes on: what is not seen is not over a limit, and the queue still is."""
    gone = recorded(gpu_utilisation=lambda step: 0.95 if step < 10 else None, kv_usage=0.97)
    assert fired(gone) == {}
    both = recorded(gpu_utilisation=lambda _: None, kv_usage=0.97, queue=50)
    assert set(fired(both)) == {"QueueTooLong"}


def test_a_gap_starts_the_clock_again(fired):
    holes = recorded(queue=lambda step: None if step % 4 == 0 else 500)
    assert fired(holes) == {}


def test_no_number_is_none(fired):
    assert fired(recorded(ttft_p95=lambda _: float("nan"))) == {}


def test_the_cache_is_held_against_what_is_usual_and_against_the_baseline(fired):
    assert "CacheHitRateFalls" in fired(recorded(hit_rate=0.3), None)
    assert "CacheHitRateFalls" in fired(recorded(hit_rate=0.3, hit_rate_usual=0.3))
    assert fired(recorded(hit_rate=0.3, hit_rate_usual=0.3), None) == {}
    assert fired(recorded(hit_rate=0.0, calls=0.01)) == {}


def test_a_slow_first_token_without_full_gpus_is_told_apart(fired):
    assert set(fired(recorded(ttft_p95=0.9))) == {"FirstTokenSlowWhileGpusAreNotFull"}
    assert fired(recorded(ttft_p95=0.9, gpu_utilisation=0.95)) == {}
    assert fired(recorded(ttft_p95=0.9, kv_usage=0.95)) == {}


def test_thresholds_follow_the_batch_where_none_was_fitted(lab, measured):
    fresh, fitted = limits(lab, 1), limits(lab, 1, measured)
    assert fresh.each["queue"] == {"llama-70b": 32, "qwen3-32b": 64}  # a quarter of 128, and of two times 128
    assert fitted.each["queue"] == {"llama-70b": 20, "qwen3-32b": 64}
    assert fitted.each["throughput"] == {"10.30.0.11:9100": 5e9}


def test_a_rise_is_told_from_chance():
    noise = [0.4 + 0.1 * ((step * 7919) % 13 - 6) / 6 for step in range(80)]
    assert not trend(noise).rises
    rising = [value + step * 0.01 for step, value in enumerate(noise)]
    assert trend(rising).rises
    assert trend(rising).slope == pytest.approx(0.01, rel=0.1)
    assert trend([1.0, None, 2.0]) is None
    assert not trend([0.5] * 40).rises


def test_one_step_up_at_the_end_is_no_trend():
    assert not trend([0.4] * 60 + [1.2] * 2).rises


def test_halves_of_a_model_have_limits_and_rules_of_their_own(lab, catalog):
    parts = {"replicas": 4, "disaggregation": {"prefill": 1, "decode": 3}}
    (first, *rest) = lab.models
    divided = lab.model_copy(update={"models": (Model.model_validate(first.model_dump() | {"phase2": parts}), *rest)})
    found = limits(divided, 2).each["queue"]
    assert found["llama-70b"] == 3 * found["llama-70b-prefill"] == limits(lab, 2).each["queue"]["llama-70b"] * 3 / 4
    missed = [rule["expr"] for group in groups(divided, 2, catalog) for rule in group["rules"] if "alert" in rule]
    assert any('model_name="llama-70b-prefill"' in each for each in missed if each.startswith("absent"))
