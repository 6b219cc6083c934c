"""What the role agents is told, decided by rackwright.metal.agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rackwright.metal.agents import differing, settings
from rackwright.site.hosts import Host


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {
            "agents_settings": lambda host: settings(Host.model_validate(host)),
            "agents_differing": differing,
        }
