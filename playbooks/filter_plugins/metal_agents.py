"""What the role agents is told, decided by rackwright.metal.agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rackwright.metal.agents import differing, settings
from rackwright.site.hosts import Host


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {
            "agents_settings": lambda host: settings(Host.model_validate(_plain(host))),
            "agents_differing": differing,
        }


def _plain(value: Any) -> Any:
    """What the play sees, without Ansible's containers that resolve a value when it is looked at."""
    if isinstance(value, Mapping):
        return {str(key): _plain(value[key]) for key in value}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
