"""One thing that preflight has to say of one machine."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Weight(StrEnum):
    """What follows from a finding."""

    FORBIDS = "forbids"
    CHANGES = "to change"
    WARNS = "warns"
    UNSEEN = "not seen"


MEANING = {
    Weight.FORBIDS: "provisioning must not begin; a person has to mend it",
    Weight.CHANGES: "it differs from the site, and is what provisioning is for",
    Weight.WARNS: "it works, and will cost time, speed or a surprise",
    Weight.UNSEEN: "the machine did not show it",
}


class Fault(NamedTuple):
    """What a check has against a machine: what (with both values), the cure, what follows."""

    what: str
    cure: str
    weight: Weight
    host: str = ""


@dataclass(frozen=True, order=True)
class Finding:
    """A fault with the host and the check that found it."""

    host: str
    check: str
    what: str
    cure: str
    weight: Weight


def forbids(what: str, cure: str, host: str = "") -> Fault:
    """A fault with which provisioning must not begin."""
    return Fault(what, cure, Weight.FORBIDS, host)


def changes(what: str, cure: str, host: str = "") -> Fault:
    """Something that provisioning changes."""
    return Fault(what, cure, Weight.CHANGES, host)


def warns(what: str, cure: str, host: str = "") -> Fault:
    """Something to know of."""
    return Fault(what, cure, Weight.WARNS, host)
