"""A path as its user writes it."""

from pathlib import Path

from rackwright.errors import Refusal


def user_path(written: str | Path) -> Path:
    """The path with `~` as the home folder; raises Refusal where that home is not known."""
    try:
        return Path(written).expanduser()
    except RuntimeError:
        raise Refusal(
            f"{written} begins with a home folder that is not known.", "Set HOME, or write the path from / on."
        ) from None
