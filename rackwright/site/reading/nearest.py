"""What somebody probably meant."""

import difflib
from collections.abc import Iterable

MOST_SHOWN = 16


def match(word: str, known: Iterable[str]) -> str | None:
    """The known word that is near enough to be meant, if there is one."""
    found = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def nearest(word: str, known: Iterable[str]) -> str:
    """A cure for an unknown word: the nearest known one, else all of them."""
    candidates = list(known)
    meant = match(word, candidates)
    return f"did you mean {meant}?" if meant else f"known: {listed(candidates)}"


def told(word: str, known: Iterable[str]) -> str:
    """The same as a sentence of its own."""
    hint = nearest(word, known)
    return f"{hint[0].upper()}{hint[1:]}{'' if hint.endswith('?') else '.'}"


def listed(words: Iterable[str]) -> str:
    """Words in one line, the first of them where they are many."""
    candidates = list(words)
    more = f" and {len(candidates) - MOST_SHOWN} more" if len(candidates) > MOST_SHOWN else ""
    return ", ".join(candidates[:MOST_SHOWN]) + more
