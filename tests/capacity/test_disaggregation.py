"""Prefill and decode apart: what the network takes, and when it pays."""

import pytest

from rackwright.capacity.disaggregation import apart, transfer_ms
from rackwright.capacity.replicas import replica_of
from rackwright.capacity.steady import Load
from rackwright.capacity.timing import Timing

QWEN = Timing(replica_of("Qwen/Qwen3-32B", "h100_sxm", tensor_parallel=2))


@pytest.mark.parametrize(("speed", "seconds"), [(25, 0.75), (100, 0.19), (400, 0.05)])
def test_a_prompt_of_8k_takes_the_known_time(speed, seconds):
    assert QWEN.replica.sequence_bytes(8192) * 2 == pytest.approx(2.1e9, rel=0.03)
    assert transfer_ms(QWEN, 8192, speed) / 1e3 == pytest.approx(seconds, rel=0.06)


def test_latent_attention_moves_its_cache_once():
    deepseek = Timing(replica_of("DeepSeek-R1", "h200_sxm", tensor_parallel=8))
    assert transfer_ms(deepseek, 8192, 100) == pytest.approx(70_272 * 8192 * 8 / 90e9 * 1e3, rel=0.01)


def test_25_gbe_never_pays_for_long_prompts_and_100_does_under_load():
    busy = Load(0.5, 8192, 300)
    assert not apart(QWEN, busy, 4, 25).pays
    assert apart(QWEN, busy, 4, 100).pays
    assert apart(QWEN, busy, 4, 400).pays


def test_an_idle_site_gains_nothing():
    assert not apart(QWEN, Load(0.02, 2000, 300), 4, 400).pays


def test_one_replica_is_not_divided():
    found = apart(QWEN, Load(0.1, 2000, 300), 1, 400)
    assert not found.pays
    assert found.why == "one replica cannot be divided"


def test_a_faster_network_is_never_worse():
    times = [apart(QWEN, Load(0.4, 8192, 300), 4, speed).ttft_ms for speed in (10, 25, 50, 100, 200, 400)]
    assert times == sorted(times, reverse=True)


def test_every_verdict_has_its_figures():
    for calls in (0.05, 0.3, 0.6, 5.0):
        found = apart(QWEN, Load(calls, 8192, 300), 4, 100)
        assert found.why
        assert found.transfer_ms > 0
