"""Which shape a model's name means: the base model behind the name of a fine-tune or of a quantised release."""

import re
from functools import cache
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.site.known.architectures import Architecture, architectures
from rackwright.site.known.config_json import read_config
from rackwright.site.reading.nearest import nearest

SAME_SHAPE = {
    "deepseek-r1-distill-llama-70b": "meta-llama/Llama-3.1-70B",
    "deepseek-r1-distill-llama-8b": "meta-llama/Llama-3.1-8B",
    "deepseek-r1-distill-qwen-14b": "Qwen/Qwen2.5-14B",
    "deepseek-r1-distill-qwen-32b": "Qwen/Qwen2.5-32B",
    "deepseek-v3.1": "deepseek-ai/DeepSeek-V3",
    "deepseek-v3.1-terminus": "deepseek-ai/DeepSeek-V3",
    "deepseek-v3.2-exp": "deepseek-ai/DeepSeek-V3.2",
    "devstral-small": "mistralai/Mistral-Small-3.2-24B",
    "glm-4.6": "zai-org/GLM-4.5",
    "glm-5.1": "zai-org/GLM-5",
    "glm-5.2": "zai-org/GLM-5",
    "kimi-dev-72b": "Qwen/Qwen2.5-72B",
    "meta-llama-3.1-405b": "meta-llama/Llama-3.1-405B",
    "meta-llama-3.1-70b": "meta-llama/Llama-3.1-70B",
    "meta-llama-3.1-8b": "meta-llama/Llama-3.1-8B",
    "minimax-m2.1": "MiniMaxAI/MiniMax-M2",
    "minimax-m2.7": "MiniMaxAI/MiniMax-M2",
    "mistral-small-24b": "mistralai/Mistral-Small-3.2-24B",
    "mistral-small-3.1-24b": "mistralai/Mistral-Small-3.2-24B",
    "qwen2.5-coder-14b": "Qwen/Qwen2.5-14B",
    "qwen2.5-coder-32b": "Qwen/Qwen2.5-32B",
    "qwen2.5-coder-7b": "Qwen/Qwen2.5-7B",
    "qwen3-coder-30b-a3b": "Qwen/Qwen3-30B-A3B",
    "qwen3-vl-235b-a22b": "Qwen/Qwen3-235B-A22B",
    "qwen3.6-27b": "Qwen/Qwen3.5-27B",
    "qwen3.6-35b-a3b": "Qwen/Qwen3.5-35B-A3B",
    "qwq-32b": "Qwen/Qwen2.5-32B",
}
ENDINGS = re.compile(
    r"[-_.](instruct|chat|it|base|hf|thinking|preview|reasoning|original|pt|v0\.\d|fp8|fp4|nvfp4|mxfp4|int4|int8|bf16|awq|"
    r"gptq|w4a16|w8a8|w8a16|quantized|dynamic|block|kv|fp8-dynamic|\d{4,8})$"
)


def find_shape(name: str) -> Architecture:
    """A model's shape by its name on the hub or by the path of a config.json; Refusal names the nearest known one."""
    if name.endswith(".json") or (("/" in name or name.startswith(".")) and Path(name).is_dir()):
        return read_config(Path(name))
    known = _short_names()
    for candidate in _candidates(name):
        if candidate in known:
            return architectures()[known[candidate]]
    raise Refusal(
        f"The model {name[:80]!r} is not known.",
        f"{nearest(name, architectures())[:1].upper()}{nearest(name, architectures())[1:]} Or name its config.json.",
    )


def short(name: str) -> str:
    """The base model's name in lower case, without its owner: what lists of flags go by; the name itself if unknown."""
    known = _short_names()
    found = next((each for each in _candidates(name) if each in known), None)
    return known[found].rpartition("/")[2].lower() if found else name.rpartition("/")[2].lower()


@cache
def _short_names() -> dict[str, str]:
    names = {name.rpartition("/")[2].lower(): name for name in architectures()}
    return {**SAME_SHAPE, **names}


def _candidates(name: str) -> list[str]:
    """The name without its owner, and without one ending after the other."""
    plain = name.strip().rpartition("/")[2].lower().replace("_", "-")
    found = [plain]
    while (match := ENDINGS.search(plain)) and len(found) < 8:
        plain = plain[: match.start()]
        found.append(plain)
    return found
