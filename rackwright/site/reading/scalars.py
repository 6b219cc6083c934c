"""What an unquoted word of YAML means: YAML 1.2's core schema, so that `no`, `on` and `12:30` stay what they say."""

import re
from typing import Final

WORDS: Final[dict[str, bool | None]] = {
    "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
LONGEST_NUMBER: Final = 40  # longer ones are names in disguise, and Python takes a while to print them
NOT_A_STRING: Final = frozenset("~nNtTfF+-.0123456789")
WHOLE: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
BROKEN: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
INFINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def plain(text: str) -> str | int | float | bool | None:
    """The value of a scalar without quotes and tag."""
    if text[:1] not in NOT_A_STRING:
        return text or None
    if text in WORDS:
        return WORDS[text]
    if len(text) > LONGEST_NUMBER:
        return text
    if WHOLE.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if BROKEN.fullmatch(text):
        return float(text)
    return float(text.replace(".", "", 1)) if INFINITE.fullmatch(text) else text
