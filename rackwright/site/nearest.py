"""What somebody probably meant."""

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """A cure for an unknown word: the nearest known one, else all of them."""
    candidates = list(known)
    match = difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    return f"did you mean {match[0]}?" if match else f"known: {', '.join(candidates)}"
