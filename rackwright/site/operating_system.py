"""Systems that Rackwright provisions."""

from typing import Literal, Self

from pydantic import Field, model_validator

from rackwright.site.settings import Settings

SUPPORTED: dict[str, tuple[str, ...]] = {
    "ubuntu": ("22.04", "24.04"),
    "debian": ("12", "13"),
    "rocky": ("9",),
    "rhel": ("9",),
}


class OperatingSystem(Settings):
    """A distribution and its release."""

    name: Literal["ubuntu", "debian", "rocky", "rhel"] = Field(description="The distribution.")
    release: str = Field(description='The release, quoted: "24.04", "13", "9".')

    @model_validator(mode="after")
    def _is_supported(self) -> Self:
        supported = SUPPORTED[self.name]
        if self.release not in supported:
            raise ValueError(
                f"{self.name} {self.release} is not supported; supported: {self.name} {', '.join(supported)}"
            )
        return self
