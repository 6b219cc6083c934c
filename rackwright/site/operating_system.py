"""Systems that Rackwright provisions."""

from typing import Literal

from pydantic import Field

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
