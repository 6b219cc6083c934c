"""`/etc/network/interfaces`, which Debian's installer writes: the site's ports leave it."""

from collections.abc import Collection, Mapping

FILES = "/etc/network/interfaces"
STARTS = ("iface", "auto", "mapping", "source", "source-directory", "no-auto-down", "no-scripts")


def in_the_way(found: Mapping[str, str], names: Collection[str]) -> dict[str, str | None]:
    """Files without what they say of ports of these names; one that says nothing else stays as an empty one."""
    files = {path: text for path, text in found.items() if path == FILES or path.startswith(f"{FILES}.d/")}
    changed = {path: without(text, names) for path, text in files.items()}
    return {path: text for path, text in changed.items() if text != files[path]}


def without(text: str, names: Collection[str]) -> str:
    """The text without stanzas of these ports, and with the ports taken out of `auto` and `allow-` lines."""
    kept, drops = [], False
    for line in text.splitlines(keepends=True):
        words = line.split()
        starts = bool(words) and (words[0] in STARTS or words[0].startswith("allow-"))
        if starts:
            drops = words[0] == "iface" and len(words) > 1 and words[1] in names
        if starts and (words[0].startswith("allow-") or words[0] in ("auto", "no-auto-down")):
            others = [word for word in words[1:] if word not in names]
            if len(others) < len(words) - 1:
                line = f"{words[0]} {' '.join(others)}\n" if others else ""  # noqa: PLW2901 - the line is replaced
        if not drops or not words or words[0].startswith("#"):
            kept.append(line)
    return "".join(kept)
