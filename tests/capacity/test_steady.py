"""The steady state by formula: Little, limits, and more load never faster."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.capacity.replicas import replica_of
from rackwright.capacity.steady import Load, most_calls, steady
from rackwright.capacity.timing import Timing

LLAMA = Timing(replica_of("meta-llama/Llama-3.3-70B", "h100_sxm", precision="fp8", tensor_parallel=4, sequences=256))
OSS = Timing(replica_of("openai/gpt-oss-120b", "h100_sxm", tensor_parallel=2))
loads = st.builds(Load, st.floats(0.001, 5), st.floats(50, 20_000), st.floats(2, 2000))


@settings(max_examples=100)
@given(load=loads, factor=st.floats(1.01, 3))
def test_more_load_is_never_faster(load, factor):
    for timing in (LLAMA, OSS):
        before, after = steady(timing, load), steady(timing, load.times(factor))
        assert after.ttft_ms >= before.ttft_ms * (1 - 1e-6)
        assert after.tpot_ms >= before.tpot_ms * (1 - 1e-6)
        assert after.sequences >= before.sequences * (1 - 1e-6) or after.limit == "prompts"


@settings(max_examples=100)
@given(load=loads)
def test_little_holds(load):
    found = steady(LLAMA, load)
    if found.limit is None:
        assert found.sequences == pytest.approx(load.calls * load.output * found.tpot_ms / 1e3, rel=0.01)


def test_a_load_beyond_a_limit_says_which():
    assert steady(LLAMA, Load(10, 8000, 100)).limit == "prompts"
    assert steady(LLAMA, Load(1.2, 8000, 1500)).limit == "cache"
    narrow = Timing(LLAMA.replica.with_(sequences=4))
    assert steady(narrow, Load(1, 500, 500)).limit == "sequences"
    assert steady(LLAMA, Load(0.1, 2000, 300)).limit is None


def test_the_most_calls_are_those_at_the_targets():
    load = Load(1, 2000, 300)
    most = most_calls(LLAMA, load, ttft_ms=500, tpot_ms=40)
    assert steady(LLAMA, load.times(most * 0.99)).tpot_ms <= 40
    beyond = steady(LLAMA, load.times(most * 1.01))
    assert beyond.tpot_ms > 40 or beyond.ttft_ms > 500 or beyond.limit
    assert most_calls(LLAMA, load, ttft_ms=1, tpot_ms=40) == 0


def test_a_cached_prompt_leaves_time_for_others():
    cold, warm = steady(LLAMA, Load(2, 4000, 300)), steady(LLAMA, Load(2, 4000, 300, 3500))
    assert warm.prefill_share < cold.prefill_share / 4
    assert warm.tpot_ms < cold.tpot_ms
