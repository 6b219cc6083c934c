"""Shapes: their tensors add up, their caches are the known ones."""

import pytest

from rackwright.site.known.architectures import Architecture, architecture, architectures
from rackwright.site.known.tensors import active_parameters, gpu_weight_bytes, tensors, weight_bytes

KV_BYTES = {  # arithmetic; the first two agree with measured pools: 58.11 GiB / 476,016 tokens, 58.53 GiB / 1,096,000
    "meta-llama/Llama-3.1-8B": 131_072,
    "Qwen/Qwen2.5-7B": 57_344,
    "mistralai/Mistral-Small-3.2-24B": 163_840,
    "Qwen/Qwen3-14B": 163_840,
    "Qwen/Qwen3-32B": 262_144,
    "meta-llama/Llama-3.1-70B": 327_680,
    "deepseek-ai/DeepSeek-V3": 70_272,
    "moonshotai/Kimi-K2": 70_272,
}
WITH_EYES = ("google/gemma", "mistralai/Mistral-Small", "meta-llama/Llama-4", "moonshotai/Kimi-K2.5")


@pytest.mark.parametrize("name", architectures())
def test_the_tensors_of_a_shape_are_as_many_as_its_card_counts(name):
    shape = architecture(name)
    parts = tensors(shape)
    known = (parts.total - parts.other) / 1e9
    slack = 0.1 if name.startswith(WITH_EYES) else 0.002  # a vision tower is no part of the shape
    assert known == pytest.approx(shape.parameters, rel=slack)
    assert known <= shape.parameters * 1.002


def test_the_most_served_families_are_there():
    known = " ".join(architectures())
    for family in (
        "Llama",
        "Qwen2.5",
        "Qwen3",
        "Mistral",
        "gpt-oss",
        "DeepSeek",
        "Kimi",
        "GLM",
        "MiniMax",
        "gemma",
        "phi",
        "Nemotron",
    ):
        assert family in known
    assert len(architectures()) >= 40
    assert all(shape.source for shape in architectures().values())


@pytest.mark.parametrize(("name", "expected"), KV_BYTES.items())
def test_a_token_takes_the_known_bytes(name, expected):
    assert architecture(name).kv_bytes_per_token() == expected


def test_heads_are_replicated_beyond_their_number_and_latent_attention_is_not_split():
    llama, deepseek = architecture("meta-llama/Llama-3.1-70B"), architecture("deepseek-ai/DeepSeek-R1")
    assert llama.kv_bytes_per_token(tensor_parallel=8) == llama.kv_bytes_per_token() / 8
    assert llama.kv_bytes_per_token(tensor_parallel=16) == llama.kv_bytes_per_token(tensor_parallel=8)
    assert deepseek.kv_bytes_per_token(tensor_parallel=8) == deepseek.kv_bytes_per_token()


def test_windows_end_the_growth_of_a_sequence_and_states_do_not_grow():
    oss = architecture("openai/gpt-oss-120b")
    full = 2 * 36 * 8 * 64 * 2
    assert oss.sequence_bytes(128) == full * 128
    assert oss.sequence_bytes(128_000) == pytest.approx(full / 2 * 128_000, rel=0.01)
    hybrid = architecture("Qwen/Qwen3-Next-80B-A3B")
    assert hybrid.sequence_bytes(1) > 50 * hybrid.kv_bytes_per_token()
    grown = hybrid.sequence_bytes(2000) - hybrid.sequence_bytes(1000)
    assert grown == pytest.approx(1000 * hybrid.kv_bytes_per_token())


def test_a_cache_of_8_bits_holds_twice_as_much():
    shape = architecture("Qwen/Qwen3-32B")
    assert shape.kv_bytes_per_token(kv_bits=8) == shape.kv_bytes_per_token() / 2


@pytest.mark.parametrize("name", ["meta-llama/Llama-3.1-70B", "Qwen/Qwen3-235B-A22B", "deepseek-ai/DeepSeek-V3"])
def test_weights_are_divided_but_for_what_every_gpu_keeps(name):
    shape = architecture(name)
    whole, eighth = weight_bytes(shape, "fp8"), gpu_weight_bytes(shape, "fp8", tensor_parallel=8)
    assert whole / 8 <= eighth <= whole / 8 * 1.25


@pytest.mark.parametrize(
    ("name", "billions"), [("openai/gpt-oss-120b", 5.1), ("Qwen/Qwen3-30B-A3B", 3.3), ("deepseek-ai/DeepSeek-V3", 37)]
)
def test_active_parameters_are_near_the_published_ones(name, billions):
    assert active_parameters(architecture(name)) == pytest.approx(billions, rel=0.1)


def test_a_shape_without_the_width_of_its_mlp_weighs_what_it_counts():
    bare = Architecture(
        layers=40, hidden=5120, attention_heads=40, kv_heads=8, head_dim=128, vocabulary=151_936, parameters=14.77,
        context_length=40_960,
    )  # fmt: skip
    assert bare.weights("bfloat16") == pytest.approx(27.52, rel=0.01)
