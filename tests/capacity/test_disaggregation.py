"""Prefill and decode apart: what the network takes, and when it pays."""

from pathlib import Path

import pytest

from rackwright.capacity.disaggregation import apart, transfer_ms
from rackwright.capacity.plan_text import plan_text
from rackwright.capacity.replicas import replica_of
from rackwright.capacity.report.page import write
from rackwright.capacity.site_plan import plan
from rackwright.capacity.steady import Load
from rackwright.capacity.timing import Timing
from rackwright.site.site import Site

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


def test_the_site_s_own_division_is_reckoned_and_never_better_than_the_best():
    busy = Load(0.5, 8192, 300)
    best = apart(QWEN, busy, 4, 100)
    for prefill in (1, 2, 3):
        wished = apart(QWEN, busy, 4, 100, wished=prefill)
        assert (wished.prefill, wished.decode) in (
            (prefill, 4 - prefill),
            (0, 0),
        )  # none: it carries too little
        if wished.prefill:
            assert wished.ttft_ms + 300 * wished.tpot_ms >= best.ttft_ms + 300 * best.tpot_ms - 1e-6
    assert apart(QWEN, busy, 4, 100, wished=best.prefill) == best


def test_the_plan_of_a_divided_model_says_what_its_own_division_gives(tmp_path):
    divided = Path(__file__).resolve().parents[1] / "fixtures" / "valid" / "divided.yml"
    site = Site.load(divided)
    (phase,) = plan(site)
    by_name = {each.model.name: each for each in phase.models}
    found = by_name["llama-70b"].wished
    assert (found.prefill, found.decode, found.network_gbps) == (1, 3, 100)
    assert by_name["mistral-24b"].wished is None
    assert "prefill and decode apart, as the site has it, on 100 GbE" in plan_text(site, (phase,))
    page = tmp_path / "plan.html"
    write(site, (phase,), page)
    assert "prefill and decode apart, as the site has it, on 100 Gbit/s" in page.read_text()
