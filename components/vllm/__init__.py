"""vLLM: every served model as native objects, right by default."""

from components.vllm.component import Vllm

__all__ = ["Vllm"]
