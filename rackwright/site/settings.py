"""The ground every block of a site file stands on."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints


class Settings(BaseModel):
    """A frozen block of settings; a key that it does not know is refused.

    A block checks each of its values by itself. What two values must have to do with each other is a rule
    (rackwright.site.rules), so that one fault does not hide another.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False, allow_inf_nan=False)


@dataclass(frozen=True)
class Form:
    """The form that a text must have, in words, for messages and the reference."""

    words: str


def _no_number(value: Any) -> Any:
    """The library would read a number as the address that it counts to."""
    if isinstance(value, (int, float)):
        what = f"is {value!r}, a number"
        raise ValueError(f"{what}; write an address such as 10.20.0.11 or 10.20.0.0/24")  # noqa: TRY004 - pydantic wants it so
    return value


Address = Annotated[IPv4Address, BeforeValidator(_no_number)]
Range = Annotated[IPv4Network, BeforeValidator(_no_number)]
Name = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"),
    Form("lower-case letters, digits and hyphens, beginning with a letter, at most 63"),
]
Identifier = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$"),
    Form("lower-case letters, digits and underscores, beginning with a letter, at most 63"),
]
StorageClass = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$"), Form("the name of a StorageClass")
]
Commit = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9a-f]{40}$"),
    Form("a commit of 40 hexadecimal digits (a branch such as main can move between two replicas)"),
]
Server = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$"),
    Form("a host name or an address, without scheme and port"),
]
