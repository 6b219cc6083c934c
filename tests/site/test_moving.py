"""What it costs to have a prompt computed elsewhere, against figures that others published."""

import pytest

from rackwright.site.hosts import Gpus
from rackwright.site.models import Model
from rackwright.site.moving import ASKING_MS, moving, prefill_tokens_per_s

H100 = Gpus(product="h100_sxm", count=8, memory_gb=80, link="nvswitch")


def qwen(**changes) -> Model:
    plain = {
        "name": "m", "source": {"local": "m"}, "architecture": "Qwen/Qwen3-32B", "precision": "bfloat16",
        "tensor_parallel": 2, "context_length": 32_768,
    }  # fmt: skip
    return Model.model_validate(plain | changes)


def test_the_speed_of_prefill_is_near_what_was_measured():
    """llm-d's own figure, measured: 15,928 tokens a second for a model of 32 billion parameters on two H100."""
    assert prefill_tokens_per_s(qwen(), [H100]) == pytest.approx(15_928, rel=0.1)


@pytest.mark.parametrize(("speed", "seconds"), [(25, 0.75), (100, 0.19), (400, 0.05)])
def test_a_prompt_of_8k_takes_the_known_time(speed, seconds):
    assert moving(qwen(), 8192, [H100], speed).transfer_ms / 1e3 == pytest.approx(seconds, rel=0.12)


def test_over_25_gbe_moving_outlasts_computing_and_over_100_it_does_not():
    assert moving(qwen(), 8192, [H100], 25).least_tokens is None
    assert moving(qwen(), 8192, [H100], 100).least_tokens is not None


def test_from_the_least_prompt_on_computing_elsewhere_gains_what_asking_costs():
    found = moving(qwen(), 4000, [H100], 100)
    at_least = moving(qwen(), found.least_tokens, [H100], 100)
    assert at_least.prefill_ms - at_least.transfer_ms == pytest.approx(ASKING_MS, rel=0.01)


def test_half_the_cache_moves_in_half_the_time():
    whole, half = (moving(qwen(kv_precision=each), 4000, [H100], 100) for each in ("auto", "fp8"))
    assert half.transfer_ms == pytest.approx(whole.transfer_ms / 2)
    assert half.least_tokens < whole.least_tokens


def test_what_is_compressed_for_all_heads_moves_once():
    shared = {"architecture": "deepseek-ai/DeepSeek-V3", "precision": "fp8"}
    one, eight = (moving(qwen(**shared, tensor_parallel=each), 4000, [H100], 100) for each in (1, 8))
    assert one.gigabytes == pytest.approx(eight.gigabytes)
