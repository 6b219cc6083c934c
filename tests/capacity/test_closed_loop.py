"""The closed loop of published measurements: nothing is lost, and the cache holds up what does not fit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.capacity.closed_loop import WAVES, Room, schedule

loads = st.tuples(st.integers(1, 3000), st.integers(1, 300), st.integers(1, 24))


@settings(max_examples=80)
@given(load=loads, step_tokens=st.sampled_from((64, 512, 8192)), cache=st.sampled_from((4_000, 40_000, float("inf"))))
def test_every_token_is_computed_and_every_request_ends(load, step_tokens, cache):
    prompt, output, concurrency = load
    room = Room(step_tokens=max(step_tokens, concurrency + 1), cache_tokens=max(cache, prompt + output + 1))
    run = schedule(prompt, output, concurrency, room, waves=3)
    assert len(run.requests) == 3 * concurrency
    assert all(0 <= each.came < each.first <= each.last <= len(run.steps) for each in run.requests)
    said = sum(each.tokens for each in run.requests)
    decoded = sum(step.decodes * step.count for step in run.steps)
    prompts = sum(step.prefill for step in run.steps)
    assert decoded == said - len(run.requests) - run.preempted  # a prompt's step says one token
    if not run.preempted:
        assert prompts == sum(each.prompt for each in run.requests)
    assert max(step.decodes for step in run.steps) <= concurrency
    assert all(step.decodes + step.prefill <= room.step_tokens for step in run.steps)
    assert all(step.context >= step.decodes for step in run.steps)


def test_a_run_has_ten_waves_that_start_together():
    run = schedule(1024, 1024, 8, Room())
    assert len(run.requests) == 8 * WAVES
    assert sum(each.came == 0 for each in run.requests) == 8
    assert not run.is_limited


def test_the_first_wave_queues_and_the_others_hardly_do():
    run = schedule(8192, 1024, 64, Room())
    waits = [each.first - each.came for each in run.requests]
    assert sum(waits[:64]) / 64 > 20
    assert sum(waits[64:]) / len(waits[64:]) < 2


def test_a_cache_that_is_too_small_holds_requests_up():
    free, held = schedule(8192, 1024, 32, Room()), schedule(8192, 1024, 32, Room(cache_tokens=120_000))
    assert held.is_limited
    assert not free.is_limited
    steps = lambda step: step.count  # noqa: E731 - a cost of one a step
    assert held.mean(steps)[0] > 100 * free.mean(steps)[0]


def test_seats_hold_requests_up_as_well():
    few, many = schedule(1024, 256, 16, Room(sequences=4)), schedule(1024, 256, 16, Room())
    assert max(step.decodes for step in few.steps) == 4
    assert few.mean(lambda step: step.count)[0] > many.mean(lambda step: step.count)[0]


def test_the_mean_is_that_of_the_requests():
    run = schedule(100, 10, 1, Room(), waves=2)
    first, further = run.mean(lambda step: float(step.count))
    assert (first, further) == (1.0, pytest.approx(1.0))
