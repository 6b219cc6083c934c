"""Parts of a shape from a config.json: experts, windows, latent attention, states, precision."""

from typing import Any

from rackwright.site.known.architectures import Precision
from rackwright.site.known.config_keys import Keys

PER_TOKEN = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "top_k")


def experts(keys: Keys, layers: int) -> dict[str, int] | None:
    """The experts, where there are any."""
    count = keys.maybe("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
    if count is None or count < 2:
        return None
    width = keys.number("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size", "ffn_hidden_size")
    shared = keys.maybe("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size")
    if shared is None:
        shared = (keys.maybe("n_shared_experts", "num_shared_experts") or 0) * width
    if keys.top.get("interleave_moe_layer_step") is not None:  # Llama 4: one shared expert of the same width
        shared = width
    return {
        "count": count,
        "per_token": keys.number(*PER_TOKEN, default=1),
        "intermediate": width,
        "shared_intermediate": shared,
        "layers": _expert_layers(keys, layers),
    }


def _expert_layers(keys: Keys, layers: int) -> int:
    counts = keys.block_counts()
    if counts:
        return max(counts.get("moe", 0), 1)
    kinds = keys.kinds("mlp_layer_types")
    if kinds:
        return max(sum(kind in ("sparse", "moe") for kind in kinds), 1)
    pattern = keys.top.get("moe_layer_freq")
    if isinstance(pattern, list):
        return max(sum(1 for each in pattern if each), 1)
    step = keys.maybe("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq", "expert_layer_period") or 1
    dense = keys.maybe("first_k_dense_replace") or 0
    only = keys.top.get("mlp_only_layers")
    dense += len(only) if isinstance(only, list) else 0
    return max((layers - dense) // step, 1)


def sliding(keys: Keys, layers: int) -> tuple[int | None, int]:
    """The window and how many layers have it."""
    kinds = keys.kinds("layer_types", "attention_types")
    if any(kind == "chunked_attention" for kind in kinds) or keys.maybe("attention_chunk_size"):
        chunked = sum(kind == "chunked_attention" for kind in kinds) or layers * 3 // 4
        return keys.maybe("attention_chunk_size") or 8192, chunked
    window = keys.maybe("sliding_window", "sliding_window_size")
    if window is None or keys.top.get("use_sliding_window") is False:
        return None, 0
    if kinds:
        return window, sum("sliding" in kind for kind in kinds)
    pattern = keys.maybe("sliding_window_pattern", "_sliding_window_pattern")
    if pattern is None and str(keys.top.get("model_type")).startswith("gemma3"):
        pattern = 6
    if pattern is None and str(keys.top.get("model_type")) == "gemma2":
        pattern = 2
    return window, layers - layers // pattern if pattern and pattern > 1 else layers


def latent(keys: Keys) -> dict[str, int | None] | None:
    """Latent attention, where there is any."""
    rank = keys.maybe("kv_lora_rank")
    if rank is None:
        return None
    return {
        "kv_rank": rank,
        "rope_dim": keys.number("qk_rope_head_dim", default=64),
        "nope_dim": keys.number("qk_nope_head_dim", default=128),
        "value_dim": keys.number("v_head_dim", default=128),
        "query_rank": keys.maybe("q_lora_rank"),
    }


def indexer(keys: Keys) -> dict[str, int] | None:
    """The indexer of sparse attention, where there is one."""
    tokens = keys.maybe("index_topk")
    if tokens is None:
        return None
    return {
        "heads": keys.number("index_n_heads", default=64),
        "dim": keys.number("index_head_dim", default=128),
        "tokens": tokens,
    }


def recurrent(keys: Keys, layers: int) -> dict[str, int] | None:
    """Layers with a state in place of keys and values, where there are any."""
    counts = keys.block_counts() or {
        "recurrent": sum(kind in ("linear_attention", "mamba") for kind in keys.kinds("layer_types"))
    }
    count = counts.get("recurrent", 0)
    interval = keys.maybe("full_attention_interval")
    if not count and interval and keys.maybe("linear_num_value_heads"):
        count = layers - layers // interval
    if not count:
        return None
    heads = keys.number("linear_num_value_heads", "mamba_num_heads", "mamba_n_heads", default=64)
    return {
        "layers": count,
        "key_heads": keys.number("linear_num_key_heads", "n_groups", "mamba_n_groups", default=1),
        "value_heads": heads,
        "key_dim": keys.number("linear_key_head_dim", "ssm_state_size", "mamba_d_state", default=128),
        "value_dim": keys.number("linear_value_head_dim", "mamba_head_dim", "mamba_d_head", default=64),
        "convolution": keys.number("linear_conv_kernel_dim", "conv_kernel", "mamba_d_conv", default=4),
    }


def precision(keys: Keys) -> Precision:
    """What the weights are published in."""
    stated = keys.whole.get("quantization_config") or keys.top.get("quantization_config")
    found = _quantised(stated) if isinstance(stated, dict) else None
    if found:
        return found
    dtype = keys.top.get("torch_dtype") or keys.top.get("dtype") or keys.whole.get("torch_dtype")
    return "float16" if dtype == "float16" else "bfloat16"


def _quantised(stated: dict[str, Any]) -> Precision | None:
    words = str(stated).lower()
    method = str(stated.get("quant_method", "")).lower()
    if method == "mxfp4" or "mxfp4" in words:
        return "mxfp4"
    if "nvfp4" in words or "fp4" in words:
        return "nvfp4"
    if method == "fp8" or "fp8" in words or "'type': 'float'" in words:
        return "fp8"
    if "num_bits': 8" in words or "'bits': 8" in words or "int8" in words:
        return "int8"
    return "int4" if method in ("awq", "gptq") or "num_bits': 4" in words or "'bits': 4" in words else None
