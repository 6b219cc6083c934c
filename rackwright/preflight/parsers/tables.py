"""JSON that commands of Linux print, into rows with known fields."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from rackwright.preflight.answers import Said
from rackwright.preflight.seen import NotSeen

Rows = TypeVar("Rows")


class Row(BaseModel):
    """A row of which only the fields that are looked at are known."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


def why_not(said: Said) -> str:
    """Why a command did not answer, in its own first words."""
    words = [line for line in (said.error or said.out).splitlines() if line.strip()]
    return words[0].strip()[:200].rstrip(".") if words else f"it ended with {said.code}"


def table(what: str, command: str, said: Said, shape: type[Rows] | Any) -> Rows:
    """What a command printed as JSON in the given shape; NotSeen where it did not."""
    if said.code:
        raise NotSeen(what, f"{command}: {why_not(said)}")
    try:
        found: Rows = TypeAdapter(shape).validate_json(said.out.strip() or "[]")
    except (ValidationError, RecursionError):
        raise NotSeen(what, f"{command} answered in another form") from None
    return found
