"""The ground every block of a site file stands on."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints


class Settings(BaseModel):
    """A frozen block of settings; a key that it does not know is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False, allow_inf_nan=False)


Name = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"),
    Field(description="Lower-case letters, digits and hyphens, beginning with a letter: a DNS label."),
]
Identifier = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$"),
    Field(description="Lower-case letters, digits and underscores, beginning with a letter: an SQL identifier."),
]
StorageClass = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
