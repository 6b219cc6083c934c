"""The keys of a config.json, each under any of the names that models give it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from rackwright.errors import Refusal

MOST = 10**9
BLOCKS = {
    "*": "attention", "attention": "attention", "full_attention": "attention", "M": "recurrent", "mamba": "recurrent",
    "mamba2": "recurrent", "linear_attention": "recurrent", "-": "mlp", "mlp": "mlp", "E": "moe", "moe": "moe",
}  # fmt: skip


@dataclass(frozen=True)
class Keys:
    """The language model's keys, those of the whole file, and the file's name for errors."""

    top: dict[str, Any]
    whole: dict[str, Any]
    name: str

    def number(self, *names: str, default: int | None = None) -> int:
        """A positive whole number under the first of the names that is there; raises Refusal without any."""
        for name in names:
            value = self.top.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MOST:
                what = f"{self.name} states {name} {str(value)[:40]}, which is no count."
                raise Refusal(what, f"Write a whole number up to {MOST}.")
            return value
        if default is None:
            raise Refusal(
                f"{self.name} does not say {names[0]}.", "Take the config.json of a language model, or write its shape."
            )
        return default

    def maybe(self, *names: str) -> int | None:
        """The same, or nothing; zero and null are nothing too."""
        if all(self.top.get(name) in (None, 0, False) for name in names):
            return None
        return self.number(*(name for name in names if self.top.get(name) not in (0, False)))

    def kinds(self, *names: str) -> list[str]:
        """A list with one word a layer, or nothing."""
        for name in names:
            value = self.top.get(name)
            if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
                return value
        return []

    def block_counts(self) -> dict[str, int]:
        """How many layers are attention, recurrent, MLP or experts alone, in a model whose layers are one of them."""
        pattern = self.top.get("hybrid_override_pattern")
        kinds = list(pattern) if isinstance(pattern, str) else self.kinds("layers_block_type")
        return dict(Counter(BLOCKS.get(kind, "mlp") for kind in kinds))
