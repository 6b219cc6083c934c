"""A site as Ansible sees it: groups of hosts, and variables as plain data."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args

from rackwright.errors import Refusal
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host, Role
from rackwright.site.site import Site

CHILDREN: dict[str, tuple[str, ...]] = {
    "phase1": ("k3s_server", "k3s_workers"),
    "phase2": ("kubernetes_control", "kubernetes_workers"),
}
NAMES_OF_ANSIBLE = ("all", "localhost", "ungrouped")


@dataclass(frozen=True)
class Inventory:
    """Host names by group, groups by the group around them, variables of each host, and variables of all."""

    groups: dict[str, list[str]]
    children: dict[str, tuple[str, ...]]
    hosts: dict[str, dict[str, Any]]
    shared: dict[str, Any]


def inventory(site: Site, catalog: Catalog) -> Inventory:
    """What playbooks know of a site; a host's block is its own variable, the site's blocks stand once for all."""
    groups = {name: [host.name for host in hosts] for name, hosts in _groups(site).items()}
    _refuse_names_of(groups, site.hosts)
    return Inventory(
        groups=groups,
        children=CHILDREN,
        hosts={
            host.name: {"ansible_host": str(host.address), "host": host.model_dump(mode="json")} for host in site.hosts
        },
        shared={
            "site": site.model_dump(mode="json", exclude={"hosts"}),  # each host's block is with the host
            "catalog": catalog.model_dump(mode="json"),
        },
    )


def _groups(site: Site) -> dict[str, Iterable[Host]]:
    """Hosts by what they do; every group exists in every site, so that no pattern matches nothing unawares."""
    by_role: dict[str, Iterable[Host]] = {
        role: [host for host in site.hosts if role in host.roles] for role in get_args(Role)
    }
    phase1, phase2 = site.hosts_in(1), site.hosts_in(2)
    api = site.clusters.phase1.api if site.clusters.phase1 else None
    return by_role | {
        "gpu": [host for host in site.hosts if host.gpus],
        "k3s_server": [host for host in phase1 if host.address == api],
        "k3s_workers": [host for host in phase1 if host.address != api],
        "kubernetes_control": site.hosts_in(2, "control"),
        "kubernetes_workers": [host for host in phase2 if "control" not in host.roles],
    }


def _refuse_names_of(groups: Iterable[str], hosts: Iterable[Host]) -> None:
    taken = {*groups, *CHILDREN, *NAMES_OF_ANSIBLE}
    for host in hosts:
        if host.name in taken:
            raise Refusal(
                f"The host {host.name} has the name of a group of hosts, and a play on it would run on the group.",
                f"Name it otherwise, for example {host.name}-01.",
            )
