"""Calls of an action: the measured quantiles, a heavy tail, and twenty agents as 60 to 1,000 chat sessions."""

import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.capacity.calls import CHAT, PATTERNS

patterns = st.sampled_from([name for name in PATTERNS if name != "chat"])


@pytest.mark.parametrize(("share", "calls"), [(0.25, 1), (0.5, 2), (0.9, 21), (0.99, 87)])
def test_tracelab_is_as_measured(share, calls):
    assert PATTERNS["tracelab"].quantile(share) == pytest.approx(calls)
    assert PATTERNS["tracelab"].mean == pytest.approx(8.7, rel=0.05)


def test_twenty_agents_weigh_like_60_to_1000_chat_sessions():
    assert 20 * PATTERNS["react"].quantile(0.1) == pytest.approx(60)
    assert 20 * PATTERNS["planner"].quantile(0.9) == pytest.approx(1000)


@given(name=patterns, mean=st.floats(1.01, 200))
def test_a_pattern_takes_any_mean_and_keeps_its_tail(name, mean):
    scaled = PATTERNS[name].scaled(mean)
    assert scaled.mean == pytest.approx(mean, rel=0.02) or mean > 4 * PATTERNS[name].mean or mean < 1.5
    assert scaled.quantile(0.0) >= 1
    values = [scaled.quantile(share / 20) for share in range(21)]
    assert values == sorted(values)


@pytest.mark.parametrize("name", PATTERNS)
def test_drawn_calls_have_the_mean(name):
    source = random.Random(3)
    drawn = [PATTERNS[name].draw(source) for _ in range(40_000)]
    assert min(drawn) >= 1
    assert fmean(drawn) == pytest.approx(PATTERNS[name].mean, rel=0.04)


def test_one_call_is_a_chat():
    assert PATTERNS["react"].scaled(1) == CHAT
    assert CHAT.scaled(8) == CHAT
