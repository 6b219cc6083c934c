"""What the role storage is told of drives, decided by rackwright.metal.storage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rackwright.metal.storage import packages, planned
from rackwright.metal.storage_return import returned
from rackwright.site.drive_marks import STATE_FOLDER, STATE_FOLDERS


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {
            "storage_plan": lambda disks, facts: planned(_plain(disks), _plain(facts)),
            "storage_return": lambda disks, serials, facts: returned(_plain(disks), _plain(serials), _plain(facts)),
            "storage_packages": lambda disks: packages(_plain(disks)),
            "storage_state": lambda _: {"root": STATE_FOLDER, "folders": list(STATE_FOLDERS)},
        }


def _plain(value: Any) -> Any:
    """What a module returned, without Ansible's containers that resolve a value when it is looked at."""
    if isinstance(value, Mapping):
        return {str(key): _plain(value[key]) for key in value}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
