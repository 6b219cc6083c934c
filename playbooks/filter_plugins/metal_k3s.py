"""What the role k3s is told, out of a host's block and the site's as a play sees them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from rackwright.metal import k3s, policies
from rackwright.metal.k3s_steps import step_refused
from rackwright.site.clusters import Clusters
from rackwright.site.hosts import Host
from rackwright.site.networks import Networks
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.operating_system import OperatingSystem


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {
            "k3s_server_configuration": server_configuration,
            "k3s_agent_configuration": agent_configuration,
            "k3s_environment": environment,
            "k3s_policies": lambda _: {"admission": policies.admission(), "audit": policies.audit_policy()},
            "k3s_sysctls": lambda _: k3s.SYSCTLS,
            "k3s_step_refused": lambda installed, wished: step_refused(str(installed), str(wished)),
        }


def server_configuration(host: Mapping[str, Any], site: Mapping[str, Any]) -> dict[str, Any]:
    """Keys and values of config.yaml on the server."""
    block, blocks = Host.model_validate(_plain(host)), _plain(site)
    return k3s.server(
        block,
        block.operating_system or OperatingSystem.model_validate(blocks["operating_system"]),
        _cluster(blocks),
        Networks.model_validate(blocks["networks"]),
        site=str(blocks["name"]),
        object_storage=_store(blocks),
    )


def agent_configuration(host: Mapping[str, Any], site: Mapping[str, Any]) -> dict[str, Any]:
    """Keys and values of config.yaml on another node."""
    block, blocks = Host.model_validate(_plain(host)), _plain(site)
    system = block.operating_system or OperatingSystem.model_validate(blocks["operating_system"])
    return k3s.agent(block, system, _cluster(blocks), Networks.model_validate(blocks["networks"]))


def environment(site: Mapping[str, Any], proxy: str, access_key: str, secret_key: str) -> dict[str, str]:
    """Variables of the unit; a proxy and keys may be empty."""
    blocks = _plain(site)
    keys = (access_key, secret_key) if access_key and secret_key else None
    return k3s.environment(_cluster(blocks), Networks.model_validate(blocks["networks"]), proxy, _store(blocks), keys)


def _cluster(blocks: Mapping[str, Any]) -> Any:
    cluster = Clusters.model_validate(blocks["clusters"]).phase1
    if cluster is None:
        raise ValueError("This site has no phase 1, and k3s is for that phase.")
    return cluster


def _store(blocks: Mapping[str, Any]) -> ObjectStorage | None:
    found = blocks.get("object_storage")
    return ObjectStorage.model_validate(found) if found else None


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Without the marks that Ansible puts on its values."""
    plain: dict[str, Any] = json.loads(json.dumps(data, default=dict))
    return plain
