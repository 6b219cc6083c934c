"""A command as a shell takes it, for cures that are to work as they stand."""

import shlex
from pathlib import Path


def command_line(*words: str | Path) -> str:
    """Words joined so that blanks, quotes and a leading hyphen of a path change nothing."""
    return shlex.join(_word(word) for word in words)


def _word(word: str | Path) -> str:
    return f"./{word}" if isinstance(word, Path) and str(word).startswith("-") else str(word)
