"""Pools that are kept for one thing: tools of agents, and training."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network

from rackwright.site.agents import WayOut
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.rules.host_room import WHOLE_SHARE
from rackwright.site.site import Site

TRACKING = "mlflow"  # its database


def agents_have_hosts(site: Site) -> Iterator[Broken]:
    """Tools run on hosts of their own."""
    if site.agents and not site.hosts_in(2, "agents"):
        yield Broken(
            ("agents",),
            "is described, and no host of phase 2 has the role agents",
            "write `roles: [agents]` at a host of phase 2, or take the block out",
        )


def training_has_hosts(site: Site) -> Iterator[Broken]:
    """Training runs on hosts of its own."""
    if site.training and not site.hosts_in(2, "training"):
        yield Broken(
            ("training",),
            "is described, and no host of phase 2 has the role training",
            "write `roles: [training]` at a host of phase 2, or take the block out",
        )


def tools_fit_on_a_host(site: Site) -> Iterator[Broken]:
    """A tool that is larger than every host waits for ever."""
    hosts = site.hosts_in(2, "agents") if site.agents else ()
    for key, of_host, unit in (("tool_memory_gib", "memory_gib", "GiB"), ("tool_cores", "cores", "threads")):
        share = WHOLE_SHARE if unit == "GiB" else 1
        most = int(max((getattr(host, of_host) for host in hosts), default=0) * share)
        if hosts and getattr(site.agents, key) > most:
            yield Broken(
                ("agents", key),
                f"is {getattr(site.agents, key)}, and the largest host for agents can give {most} {unit}",
                f"write at most {most}",
            )


def tracking_has_its_stores(site: Site) -> Iterator[Broken]:
    """Runs are rows of a database, and what they leave are objects of a store."""
    if not (site.training and site.training.tracking):
        return
    if site.object_storage is None:
        yield Broken(
            ("training", "tracking"),
            "is true, and the site has no object_storage for what runs leave",
            "describe object_storage, or write `tracking: false`",
        )
    if not any(database.name == TRACKING for database in site.postgresql.databases):
        yield Broken(
            ("training", "tracking"),
            f"is true, and postgresql.databases has none called {TRACKING}",
            f"add {{name: {TRACKING}, owner: {TRACKING}}} to them, or write `tracking: false`",
        )


def tools_reach_no_host(site: Site) -> Iterator[Broken]:
    """The machines, their API and the cluster's own addresses are no business of a tool."""
    for index, way in enumerate(site.agents.ways_out if site.agents else ()):
        yield from _no_host(way, ("agents", "ways_out", index, "cidr"), site)


def jobs_reach_no_host(site: Site) -> Iterator[Broken]:
    """Nor of a job that trains."""
    for index, way in enumerate(site.training.ways_out if site.training else ()):
        yield from _no_host(way, ("training", "ways_out", index, "cidr"), site)


def _no_host(way: WayOut, place: Place, site: Site) -> Iterator[Broken]:
    cluster, nodes, storage = site.clusters.phase2, site.networks.nodes.cidr, site.networks.storage
    if cluster is None:
        return
    ranges = {"clusters.phase2.pods": cluster.pods, "clusters.phase2.services": cluster.services}
    left_out = way.left_out([nodes, *ranges.values(), *([storage.cidr] if storage else [])])
    reached = {f"host {host.name}": host.address for host in site.hosts} | {"clusters.phase2.api": cluster.api}
    known = {name: address for name, address in reached.items() if address in nodes}  # others have a fault of their own
    found = [name for name, address in known.items() if address in way.cidr and not _within(address, left_out)]
    found += [name for name, network in ranges.items() if way.cidr.subnet_of(network)]
    if found:
        yield Broken(
            place,
            f"is {way.cidr}, which holds {found[0]}",
            "name single addresses that are no machine of the site, or a range around the whole network",
        )


def _within(address: IPv4Address, networks: Sequence[IPv4Network]) -> bool:
    return any(address in network for network in networks)
