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
CODENAMES = {"22.04": "jammy", "24.04": "noble", "12": "bookworm", "13": "trixie"}


class OperatingSystem(Settings):
    """A distribution and its release."""

    name: Literal["ubuntu", "debian", "rocky", "rhel"] = Field(description="The distribution.")
    release: str = Field(description='The release, quoted: "24.04", "13", "9".')

    @property
    def package_format(self) -> Literal["deb", "rpm"]:
        """What its packages are."""
        return "rpm" if self.name in {"rocky", "rhel"} else "deb"

    @property
    def codename(self) -> str:
        """The name by which apt's repositories know the release."""
        return CODENAMES[self.release]
