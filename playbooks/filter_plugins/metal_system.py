"""What the role base asks of every kernel and package system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rackwright.metal import system
from rackwright.site.operating_system import OperatingSystem


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {"base_settings": base_settings, "base_differing_settings": system.differing_settings}


def base_settings(operating_system: dict[str, Any]) -> dict[str, Any]:
    """Modules and settings of the kernel, and packages that no automatic upgrade moves."""
    packages = OperatingSystem.model_validate(dict(operating_system)).package_format
    return {
        "modules": [{"name": name, "why": why} for name, why in system.MODULES.items()],
        "kernel": [asdict(setting) for setting in system.SETTINGS],
        "kept": list(system.KEPT[packages]),
        "package_format": packages,
    }
