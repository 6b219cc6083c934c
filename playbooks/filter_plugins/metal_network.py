"""What the role network is told, out of a host's own block, the site's and what was found on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ansible.errors import AnsibleFilterError

from rackwright.errors import Refusal
from rackwright.metal import network, ports
from rackwright.site.hosts import Host
from rackwright.site.networks import Networks
from rackwright.site.operating_system import OperatingSystem


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {
            "network_change": network_change,
            "network_in_service": lambda said: network.in_service(str(said)),
            "network_differences": network_differences,
            "network_lonely_bonds": network_lonely_bonds,
            "network_peers": network_peers,
            "port_settings": port_settings,
        }


def network_change(
    facts: dict[str, Any], host: dict[str, Any], networks: dict[str, Any], system: dict[str, Any]
) -> dict[str, Any]:
    """Files that are wished and what differs."""
    try:
        return network.change(
            Host.model_validate(_plain(host)),
            Networks.model_validate(_plain(networks)),
            OperatingSystem.model_validate(_plain(system)),
            _plain(facts),
        )
    except Refusal as refusal:
        raise AnsibleFilterError(f"{refusal.what} {refusal.cure}") from None


def network_differences(facts: dict[str, Any], host: dict[str, Any], networks: dict[str, Any]) -> list[str]:
    """How the running network differs from the site."""
    block, site = Host.model_validate(_plain(host)), Networks.model_validate(_plain(networks))
    return network.network_differences(block, site, _plain(facts))


def network_lonely_bonds(facts: dict[str, Any], host: dict[str, Any]) -> list[str]:
    """Bonds whose switch does not speak LACP."""
    return network.lonely_bonds(Host.model_validate(_plain(host)), _plain(facts))


def network_peers(
    host: dict[str, Any], networks: dict[str, Any], others: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Hosts of a run that another of them must reach with full packets."""
    found = [Host.model_validate(_plain(other)) for other in others]
    return network.peers(Host.model_validate(_plain(host)), Networks.model_validate(_plain(networks)), found)


def port_settings(facts: dict[str, Any], host: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Queues, rings and RoCE of each port, by its name."""
    return ports.port_settings(Host.model_validate(_plain(host)), _plain(facts))


def _plain(value: Any) -> Any:
    """Without Ansible's lazy containers, whose parts nobody else may look at."""
    if isinstance(value, dict):
        return {str(key): _plain(value[key]) for key in value}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
