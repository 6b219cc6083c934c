"""The model of time: more work never takes less time, and faster hardware never more."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.capacity.constants import CONSTANTS, STEP_CONSTANTS, fitted
from rackwright.capacity.kernels import kernels
from rackwright.capacity.replicas import replica_of
from rackwright.capacity.timing import Timing
from rackwright.capacity.work import AMOUNTS, DENSE_RIDGE, EXPERT_RIDGE, Work
from rackwright.site.known.architectures import architectures

GPUS = (
    "a100_sxm",
    "a100_pcie",
    "l40s",
    "h100_sxm",
    "h100_pcie",
    "h100_nvl",
    "h200_sxm",
    "b200_sxm",
    "b300_sxm",
    "rtx_pro_6000_blackwell",
)
timings = st.builds(
    lambda name, gpu, split, precision: Timing(replica_of(name, gpu, tensor_parallel=split, precision=precision)),
    st.sampled_from(sorted(architectures())),
    st.sampled_from(GPUS),
    st.sampled_from((1, 2, 4, 8)),
    st.sampled_from(("bfloat16", "fp8", "nvfp4", None)),
)
steps = st.tuples(st.integers(0, 512), st.integers(0, 20_000), st.integers(0, 8192), st.integers(0, 50_000))


def cost(timing, decodes, each, prefill, back):
    return timing.step_ms(decodes, decodes * each, prefill, prefill * back)


@settings(max_examples=300)
@given(timing=timings, step=steps, more=st.integers(1, 100))
def test_more_work_never_takes_less_time(timing, step, more):
    decodes, each, prefill, back = step
    before = cost(timing, decodes, each, prefill, back)
    assert before > 0
    for changed in (
        (decodes + more, each, prefill, back),
        (decodes, each + more, prefill, back),
        (decodes, each, prefill + more, back),
        (decodes, each, prefill, back + more),
    ):
        assert cost(timing, *changed) >= before * (1 - 1e-12)


@settings(max_examples=150)
@given(timing=timings, step=steps)
def test_faster_hardware_never_takes_longer(timing, step):
    device = timing.replica.hardware
    slower = cost(timing, *step)
    for faster in (
        replace(device, bandwidth=device.bandwidth * 1.5),
        replace(device, compute={precision: value * 1.5 for precision, value in device.compute.items()}),
        replace(device, link_bandwidth=device.link_bandwidth * 1.5),
    ):
        assert cost(Timing(timing.replica.with_(hardware=faster)), *step) <= slower * (1 + 1e-9)


@settings(max_examples=100)
@given(timing=timings, prompt=st.integers(1, 60_000), cached=st.integers(0, 60_000))
def test_a_prompt_that_is_partly_cached_is_never_slower(timing, prompt, cached):
    assert timing.prefill_ms(prompt, min(cached, prompt)) <= timing.prefill_ms(prompt) * (1 + 1e-9)


def test_amounts_and_constants_go_together():
    assert tuple(each.name for each in STEP_CONSTANTS) == AMOUNTS
    assert len(CONSTANTS) <= 14
    assert all(value > 0 for value in fitted().values)
    assert fitted()["kernel"] == fitted().values[6]
    for part, ridge in (("weight", "dense"), ("expert", "expert")):
        least = {"dense": DENSE_RIDGE, "expert": EXPERT_RIDGE}[ridge] * fitted()[f"{ridge}_compute"]
        assert fitted()[f"{part}_stream"] >= least  # or faster memory would slow a step down


def test_experts_are_read_as_far_as_tokens_reach_them():
    work = Work(replica_of("openai/gpt-oss-120b", "h200_sxm"))
    assert work.hit(1) == pytest.approx(4 / 128)
    assert work.hit(64) == pytest.approx(0.87, abs=0.01)
    assert work.hit(8192) == pytest.approx(1)
    assert Work(replica_of("meta-llama/Llama-3.1-8B", "h100_sxm")).hit(64) == 0


@pytest.mark.parametrize(
    ("model", "gpu", "split", "a_layer"),
    [
        ("meta-llama/Llama-3.1-70B", "h100_sxm", 1, 12), ("meta-llama/Llama-3.1-70B", "h100_sxm", 4, 14),
        ("openai/gpt-oss-120b", "h100_sxm", 2, 18), ("MiniMaxAI/MiniMax-M2.5", "h200_sxm", 4, 25),
        ("openai/gpt-oss-120b", "b200_sxm", 2, 13), ("Qwen/Qwen3-32B", "l40s", 2, 21),
    ],
)  # fmt: skip
def test_kernels_of_a_layer(model, gpu, split, a_layer):
    replica = replica_of(model, gpu, tensor_parallel=split, precision=None if "gpt-oss" in model else "fp8")
    assert kernels(replica) == a_layer * replica.shape.layers


def test_a_decode_step_cannot_beat_the_memory():
    for model in ("meta-llama/Llama-3.1-70B", "Qwen/Qwen3-32B"):
        replica = replica_of(model, "h200_sxm", precision="fp8")
        floor = replica.memory.weights * 2**30 / replica.hardware.bandwidth * 1e3
        assert Timing(replica).decode_ms(1, 1000) > floor


def test_known_times_are_near():
    """Two measurements: Llama-3.1-70B, 4 H200, 4 in flight of 1k/1k, 9.85 ms; gpt-oss-120b, 8 H200, 3.62 ms."""
    llama = Timing(replica_of("meta-llama/Llama-3.1-70B", "h200_sxm", precision="fp8", tensor_parallel=4, kv_bits=8))
    assert llama.decode_ms(4, 1500) == pytest.approx(9.85, rel=0.1)
    oss = Timing(replica_of("openai/gpt-oss-120b", "h200_sxm", tensor_parallel=8))
    assert oss.decode_ms(4, 1500) == pytest.approx(3.62, rel=0.1)
