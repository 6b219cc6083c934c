"""A text file, read whole, or a sentence that says why not."""

import re
import stat
from pathlib import Path

from rackwright.errors import Refusal

LARGEST_BYTES = 4 * 2**20
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")


def read_text(file: Path) -> str:
    """The file's text without byte order mark and carriage returns; raises Refusal where there is none to be had."""
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
            raise Refusal(f"{file} is {kind}.", "Name the file itself.")
        if found.st_size > LARGEST_BYTES:
            raise Refusal(
                f"{file} has {found.st_size / 2**20:.1f} MiB; a file of this kind has at most "
                f"{LARGEST_BYTES // 2**20} MiB.",
                "Look whether this is the right file.",
            )
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refusal(f"{file} is not UTF-8 text (byte {error.start}).", "Save it as UTF-8.") from None
    except OSError as error:
        raise Refusal(
            f"{file} cannot be read ({error.strerror}).", "Look at its name, its owner and mode, and the links to it."
        ) from None
    except ValueError:  # a null byte in the name
        raise Refusal(f"{str(file)!r} is no name of a file.", "Name another.") from None
    _no_control_characters(file, text)
    return text


def _no_control_characters(file: Path, text: str) -> None:
    found = CONTROL.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise Refusal(
            f"{file}:{line}: holds the control character {found.group()!r}; this is not a text file.",
            "Look whether this is the right file, or delete that character.",
        )
