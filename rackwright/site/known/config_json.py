"""A model's own config.json as a shape, without the network: the file as it lies on the hub, whatever names it uses."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rackwright.errors import Refusal
from rackwright.site.known.architectures import Architecture
from rackwright.site.known.config_keys import Keys
from rackwright.site.known.config_parts import experts, indexer, latent, precision, recurrent, sliding
from rackwright.site.known.tensors import tensors
from rackwright.site.reading.text_file import read_text

TAKE = "Take config.json from the model's own folder."
INSIDE = ("text_config", "llm_config", "language_config", "thinker_config", "text_model_config")
OTHER_KINDS = ("global_head_dim", "num_kv_shared_layers", "compress_ratios", "linear_attn_config", "hc_count")
UNGATED = {
    "bloom", "codegen", "falcon", "gpt2", "gpt_bigcode", "gpt_neox", "gptj", "mpt", "nemotron", "nemotron_h", "opt",
    "phi", "starcoder2",
}  # fmt: skip
TIED = {
    "bloom", "cohere", "cohere2", "falcon", "gemma", "gemma2", "gemma3", "gemma3_text", "gpt2", "gpt_bigcode", "mpt",
    "opt",
}  # fmt: skip
QUERY_NORM = {"qwen3", "qwen3_moe", "qwen3_next", "gemma3", "gemma3_text", "qwen3_vl_text", "qwen3_vl_moe_text"}


def read_config(file: Path) -> Architecture:
    """The shape in a config.json, or in the folder that holds one; raises Refusal where it says none."""
    path = file / "config.json" if file.is_dir() else file
    text = read_text(path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refusal(
            f"{path} is not JSON ({str(error)[:80]}).", "Take config.json from the model's own folder."
        ) from None
    shape = shape_of(data, str(path))
    return _weighed(shape, path.with_name("model.safetensors.index.json"))


def shape_of(data: Any, name: str) -> Architecture:
    """The shape that a config.json's content states; raises Refusal with what is missing or cannot be."""
    keys = _language_model(data, name)
    _no_other_kind(keys)
    try:
        bare = Architecture(parameters=1e-9, **_dimensions(keys), **_parts(keys))
        return bare.model_copy(update={"parameters": tensors(bare).total / 1e9})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        what = f"{name} states a shape that cannot be ({place}: {first['msg']})."
        raise Refusal(what, "Look at its figures.") from None


def _dimensions(keys: Keys) -> dict[str, Any]:
    """Counts and widths."""
    hidden = keys.number("hidden_size", "n_embd", "d_model", "dim", "model_dim")
    heads = keys.number("num_attention_heads", "n_head", "n_heads", "num_heads")
    return {
        "layers": _layers(keys),
        "hidden": hidden,
        "attention_heads": heads,
        "kv_heads": _kv_heads(keys, heads),
        "head_dim": keys.number("head_dim", "attention_head_dim", "kv_channels", default=max(hidden // heads, 1)),
        "vocabulary": keys.number("vocab_size", "padded_vocab_size", "n_vocab"),
        "context_length": keys.number(
            "max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length", default=4096
        ),
        "intermediate": keys.number(
            "intermediate_size_mlp", "intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", default=4 * hidden
        ),
    }


def _parts(keys: Keys) -> dict[str, Any]:
    """What kind of layers there are."""
    kind = str(keys.top.get("model_type") or "")
    layers, counts = _layers(keys), keys.block_counts()
    window, windowed = sliding(keys, layers)
    return {
        "sliding_window": window,
        "sliding_layers": windowed,
        "native_precision": precision(keys),
        "gated": kind not in UNGATED,
        "tied_embeddings": _tied(keys, kind),
        "query_norm": _query_norm(keys, kind),
        "query_gate": bool(keys.top.get("attn_output_gate", kind == "qwen3_next")),
        "attention_layers": counts.get("attention") if counts else None,
        "mlp_layers": counts.get("mlp", 0) + counts.get("moe", 0) if counts else None,
        "experts": experts(keys, layers),
        "latent": latent(keys),
        "indexer": indexer(keys),
        "recurrent": recurrent(keys, layers),
        "source": keys.name,
    }


def _layers(keys: Keys) -> int:
    return keys.number("num_hidden_layers", "n_layer", "n_layers", "num_layers")


def _no_other_kind(keys: Keys) -> None:
    """Refuse attention of a kind that would be reckoned wrongly: no shape is better than a wrong one."""
    found = [name for name in OTHER_KINDS if keys.top.get(name) not in (None, 0, False, [], {})]
    if found:
        raise Refusal(
            f"{keys.name} has {found[0]}, attention of a kind that is not reckoned here.",
            "State the shape in the site file, with what is nearest to it.",
        )


def _language_model(data: Any, name: str) -> Keys:
    """The part of a configuration that is the language model, of one with ears and eyes too."""
    if not isinstance(data, dict):
        raise Refusal(f"{name} is not a block of keys.", TAKE)
    part = data
    for _ in range(3):
        inner = next((part[key] for key in INSIDE if isinstance(part.get(key), dict)), None)
        if inner is None:
            break
        part = inner
    return Keys(part, data, name)


def _kv_heads(keys: Keys, heads: int) -> int:
    if keys.top.get("multi_query") is True and not keys.top.get("new_decoder_architecture"):
        return keys.number("num_key_value_heads", "num_kv_heads", "multi_query_group_num", default=1)
    return keys.number("num_key_value_heads", "num_kv_heads", "n_kv_heads", "multi_query_group_num", default=heads)


def _tied(keys: Keys, kind: str) -> bool:
    stated = keys.top.get("tie_word_embeddings", keys.whole.get("tie_word_embeddings"))
    return kind in TIED if stated is None else bool(stated)


def _query_norm(keys: Keys, kind: str) -> str:
    stated = keys.top.get("use_qk_norm", keys.top.get("qk_layernorm"))
    if stated and "minimax" in kind:
        return "width"
    return "head" if stated or (stated is None and kind in QUERY_NORM) else "none"


def _weighed(shape: Architecture, index: Path) -> Architecture:
    """The shape with the size of the weights, where the index of the published files lies beside its config.json."""
    if not index.is_file():
        return shape
    try:
        size = json.loads(read_text(index))["metadata"]["total_size"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return shape
    if isinstance(size, bool) or not isinstance(size, int) or not 0 < size < 2**60:
        return shape
    return shape.model_copy(update={"weights_gib": size / 2**30})
