"""What makes a secret too weak, or unfit to be passed on; the value itself is never said."""

import re

from rackwright.site.secret_names import DEFAULT_PASSWORDS

WORDS = frozenset({
    "abc", "changeit", "example", "grafana", "key", "langfuse", "langgraph", "minio", "mlflow", "nvidia", "operator",
    "passphrase", "postgres", "postgresql", "prom", "pulumi", "qdrant", "rackwright", "sk", "vllm",
})  # fmt: skip
SEQUENCES = ("1234567890" * 4, "0123456789" * 4, "abcdefghijklmnopqrstuvwxyz" * 2, "qwertyuiopasdfghjklzxcvbnm")
FEWEST_DIFFERENT = 8


def weakness(value: str, *, shortest: int, name: str = "") -> str | None:
    """Why a value cannot be a secret, as the end of a sentence that begins with its name; None where it can."""
    if not value.isascii() or not value.isprintable() or " " in value:
        return "holds a space, a line break or a character beyond ASCII, which headers and files do not carry safely"
    if any(mark in value for mark in ("{{", "{%", "{#")):
        return "holds the beginning of a template ({{, {% or {#), which Ansible would evaluate"
    if len(value) < shortest:
        return f"has {len(value)} characters where {shortest} are the least"
    if _is_well_known(value, name):
        return "is a well-known value"
    if len(set(value)) < min(FEWEST_DIFFERENT, shortest):
        return f"repeats {len(set(value))} characters"
    return None


def _is_well_known(value: str, name: str) -> bool:
    lowered = value.lower()
    if any(lowered in sequence for sequence in SEQUENCES):
        return True
    words = {*WORDS, *map(_letters, DEFAULT_PASSWORDS), *re.findall("[a-z]+", name.lower())}
    longest_first = "|".join(sorted(words, key=len, reverse=True))
    return re.fullmatch(f"(?>{longest_first})++", _letters(lowered)) is not None  # never goes back: no long search


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text)
