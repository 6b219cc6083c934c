"""How a message quotes a value: on one line, not too long, and never a secret."""

import re

LONGEST = 60
SECRET = re.compile(
    r"://[^\s/@:]*:[^\s/@]+@"  # an address with a password in it
    r"|\bhf_[A-Za-z0-9]{20,}|\bsk-[A-Za-z0-9_-]{16,}|\bnvapi-[A-Za-z0-9_-]{20,}|\bAKIA[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}|\bglpat-[A-Za-z0-9_-]{20,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)
HIDDEN = "something that may be a secret (not repeated)"


def shown(value: object) -> str:
    """A value as a message quotes it; NotKnown where it is not known."""
    str(value)  # the unknown value answers by NotKnown, so that a rule which asks it ends there
    text = str(value).lower() if isinstance(value, bool) else repr(value)  # as YAML has it
    if SECRET.search(text):
        return HIDDEN
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
