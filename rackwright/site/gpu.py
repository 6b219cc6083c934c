"""How GPUs are driven and shared on every GPU host of the site."""

from typing import Literal

from pydantic import Field

from rackwright.site.settings import Settings


class Gpu(Settings):
    """The driver, and how Kubernetes hands GPUs out."""

    driver_branch: int = Field(
        le=9999, description="The driver's branch, e.g. 580; the catalog holds the exact version of each."
    )
    driver_flavour: Literal["open", "proprietary"] = Field(
        default="open",
        description="The kernel module: Blackwell only works with open, Volta and older only with proprietary.",
    )
    driver_source: Literal["nvidia", "distribution"] = Field(
        default="nvidia", description="NVIDIA's repository (built on the host by DKMS), or Ubuntu's signed modules."
    )
    secure_boot: bool = Field(default=False, description="True where the firmware has Secure Boot on.")
    mig_strategy: Literal["none", "single", "mixed"] = Field(
        default="none",
        description="How MIG slices are offered: single as nvidia.com/gpu, mixed under names of their own.",
    )
    time_slices: int = Field(default=1, ge=1, le=16, description="How many pods may share one GPU in turns; 1: none.")
