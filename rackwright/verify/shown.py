"""What a host showed, as far as a proof looks at it."""

import json
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rackwright.preflight.answers import Said

ENDS = "%b %d %H:%M:%S %Y %Z"


class Part(BaseModel):
    """A part of what was shown; what a newer asker adds is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Certificate(Part):
    """A file, and what openssl says of its end."""

    path: str
    ends: Said = Said()

    def days_left(self, now: float) -> float | None:
        """Days until it is no longer good, negative ones after; nothing where openssl could not tell."""
        said = self.ends.out.strip().partition("=")[2]
        if self.ends.code or not said:
            return None
        ends = datetime.strptime(" ".join(said.split()), ENDS).replace(tzinfo=UTC)
        return (ends.timestamp() - now) / 86400


class Shown(Part):
    """All of one host."""

    now: float
    nodes: Said | None = None
    containerd: str | None = None
    certificates: tuple[Certificate, ...] = ()
    volumes: Said | None = None
    gpus: Said | None = None


def understood(data: Any) -> Shown | None:
    """What was shown, or nothing where it has another form."""
    try:
        return Shown.model_validate(data)
    except ValidationError:
        return None


def documents(said: Said) -> list[dict[str, Any]] | None:
    """The items of what kubectl printed; nothing where it printed no list."""
    try:
        items = json.loads(said.out).get("items") if said.code == 0 else None
    except (ValueError, AttributeError):
        return None
    return [each for each in items if isinstance(each, dict)] if isinstance(items, list) else None


def groups(said: Said) -> set[str] | None:
    """Names of volume groups that vgs printed; nothing where it printed none of its reports."""
    try:
        report = json.loads(said.out)["report"] if said.code == 0 else None
    except (ValueError, KeyError, TypeError):
        return None
    return {group["vg_name"] for each in report for group in each.get("vg", ())} if report is not None else None
