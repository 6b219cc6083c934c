"""Text of unit files and keyfiles, out of sections with keys that may repeat."""

from collections.abc import Iterable

Section = tuple[str, tuple[tuple[str, str], ...]]
HEAD = "# Written by Rackwright out of the site file; changes made here by hand are lost."


def ini(sections: Iterable[Section]) -> str:
    """Sections without a key are left out."""
    blocks = (
        "\n".join([f"[{name}]", *(f"{key}={value}" for key, value in keys)]) + "\n" for name, keys in sections if keys
    )
    return "\n".join([f"{HEAD}\n", *blocks])
