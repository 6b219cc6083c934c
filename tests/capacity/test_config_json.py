"""A config.json as a shape: the ways that models write it, and one sentence for everything else."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.errors import Refusal
from rackwright.site.known.architectures import architecture
from rackwright.site.known.config_json import read_config, shape_of

LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
    "num_key_value_heads": 8, "num_hidden_layers": 32, "vocab_size": 128256, "max_position_embeddings": 131072,
}  # fmt: skip
CONFIGS = {
    "meta-llama/Llama-3.1-8B": LLAMA,
    "Qwen/Qwen3-30B-A3B": {
        "model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 768,
        "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "num_hidden_layers": 48,
        "num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [],
        "vocab_size": 151936, "max_position_embeddings": 40960, "tie_word_embeddings": False, "sliding_window": None,
    },
    "openai/gpt-oss-120b": {
        "model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_attention_heads": 64,
        "num_key_value_heads": 8, "head_dim": 64, "num_hidden_layers": 36, "num_local_experts": 128,
        "num_experts_per_tok": 4, "vocab_size": 201088, "max_position_embeddings": 131072, "sliding_window": 128,
        "layer_types": ["sliding_attention", "full_attention"] * 18, "tie_word_embeddings": False,
        "quantization_config": {"quant_method": "mxfp4"},
    },
    "deepseek-ai/DeepSeek-V3": {
        "model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
        "num_attention_heads": 128, "num_key_value_heads": 128, "num_hidden_layers": 61, "n_routed_experts": 256,
        "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1,
        "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
        "vocab_size": 129280, "max_position_embeddings": 163840,
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
    },
    "Qwen/Qwen3-Next-80B-A3B": {
        "model_type": "qwen3_next", "hidden_size": 2048, "intermediate_size": 5120, "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512, "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256,
        "num_hidden_layers": 48, "num_experts": 512, "num_experts_per_tok": 10, "full_attention_interval": 4,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128,
        "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "vocab_size": 151936,
        "max_position_embeddings": 262144,
    },
    "google/gemma-3-27b": {
        "model_type": "gemma3",
        "text_config": {
            "model_type": "gemma3_text", "hidden_size": 5376, "intermediate_size": 21504, "num_attention_heads": 32,
            "num_key_value_heads": 16, "head_dim": 128, "num_hidden_layers": 62, "sliding_window": 1024,
            "vocab_size": 262208, "max_position_embeddings": 131072,
        },
    },
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B": {
        "model_type": "nemotron_h", "hidden_size": 2688, "intermediate_size": 1856, "num_attention_heads": 32,
        "num_key_value_heads": 2, "head_dim": 128, "num_hidden_layers": 52, "mamba_num_heads": 64,
        "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8, "conv_kernel": 4, "n_routed_experts": 128,
        "num_experts_per_tok": 6, "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712,
        "hybrid_override_pattern": "M" * 23 + "*" * 6 + "E" * 23, "vocab_size": 131072,
        "max_position_embeddings": 262144,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_says_what_the_table_says(name):
    read, known = shape_of(CONFIGS[name], "config.json"), architecture(name)
    vision = 0.02 if "gemma" in name else 0.002
    assert read.parameters == pytest.approx(known.parameters, rel=vision)
    for field in (
        "layers",
        "hidden",
        "kv_heads",
        "vocabulary",
        "native_precision",
        "sliding_layers",
        "tied_embeddings",
        "gated",
    ):
        assert getattr(read, field) == getattr(known, field), field
    assert read.experts == known.experts
    assert read.recurrent == known.recurrent
    assert read.latent == known.latent
    for tensor_parallel in (1, 8):
        expected = known.kv_bytes_per_token(tensor_parallel=tensor_parallel)
        assert read.kv_bytes_per_token(tensor_parallel=tensor_parallel) == expected


def test_a_folder_with_the_index_of_its_weights_gives_their_size(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 16_060_522_496}}))
    assert read_config(tmp_path).weights("bfloat16") == pytest.approx(14.96, abs=0.01)
    (tmp_path / "model.safetensors.index.json").write_text("[")
    assert read_config(tmp_path).weights_gib is None


@pytest.mark.parametrize(
    ("stated", "precision"),
    [
        ({"quant_method": "awq", "bits": 4}, "int4"),
        ({"quant_method": "gptq", "bits": 8}, "int8"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"g": {"weights": {"num_bits": 8, "type": "float"}}},
            },
            "fp8",
        ),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "bfloat16"),
        (None, "bfloat16"),
    ],
)
def test_the_published_precision_is_read(stated, precision):
    assert shape_of({**LLAMA, "quantization_config": stated}, "config.json").native_precision == precision


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_hidden_layers": None}, "does not say num_hidden_layers"),
        ({"hidden_size": "wide"}, "states hidden_size wide, which is no count"),
        ({"vocab_size": -1}, "states vocab_size -1, which is no count"),
        ({"num_hidden_layers": 10**8}, "states a shape that cannot be (layers"),
        ({"num_attention_heads": True}, "states num_attention_heads True"),
        ({"global_head_dim": 512}, "has global_head_dim, attention of a kind that is not reckoned here"),
    ],
)
def test_what_is_wrong_with_a_config_is_one_sentence(change, words):
    with pytest.raises(Refusal) as refusal:
        shape_of({**LLAMA, **change}, "config.json")
    assert words in refusal.value.what


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7", '"llama"', "{" * 100_000, "\x00"])
def test_what_is_no_config_is_one_sentence(tmp_path, text):
    file = tmp_path / "config.json"
    file.write_text(text)
    with pytest.raises(Refusal):
        read_config(file)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
keys = sorted({key for config in CONFIGS.values() for key in {**config, **config.get("text_config", {})}})


@settings(max_examples=300)
@given(name=st.sampled_from(sorted(CONFIGS)), changes=st.dictionaries(st.sampled_from(keys), plain, max_size=4))
def test_any_config_is_a_shape_or_one_refusal(name, changes):
    config = {**CONFIGS[name].get("text_config", CONFIGS[name]), **changes}
    try:
        shape = shape_of(config, "config.json")
    except Refusal:
        return
    assert shape.parameters > 0
    assert shape.weights("fp8") >= 0
    assert shape.sequence_bytes(1000) >= 0
