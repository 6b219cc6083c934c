"""Ranges of addresses: none runs into another, and each is wide enough."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations

from rackwright.site.hosts import Phase
from rackwright.site.reading.faults import Place, spell
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.unknown import is_known, look
from rackwright.site.site import Site

NODE_PREFIX = 24  # k3s and kubeadm give each node a /24 of the pod network
WIDEST_SERVICES = 12  # the API server takes no wider one
NARROWEST_SERVICES = 24
ELSEWHERE = tuple(IPv4Network(each) for each in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3"))

Range = tuple[Place, IPv4Network]


def ranges_are_apart(site: Site) -> Iterator[Broken]:
    """While a site moves, both clusters run side by side, and every host routes the ranges of both."""
    for (place, network), (other_place, other) in combinations(sorted(_ranges(site), key=_rank), 2):
        if network.overlaps(other):
            reason = ": both clusters run side by side while the site moves" if _phases(place, other_place) else ""
            yield Broken(
                other_place,
                f"is {other}, which overlaps {spell(place)} {network}{reason}",
                "write a range that is free",
            )


def ranges_are_usable(site: Site) -> Iterator[Broken]:
    """Some ranges have a meaning of their own to every machine."""
    for place, network in _ranges(site):
        for reserved in ELSEWHERE:
            if network.overlaps(reserved):
                yield Broken(
                    place,
                    f"is {network}, which overlaps {reserved}, a range with a meaning of its own",
                    "write a private range (RFC 1918), such as 10.42.0.0/16",
                )


def pod_networks_hold_their_nodes(site: Site, phase: Phase) -> Iterator[Broken]:
    """Each node takes a /24 out of the pod network."""
    cluster = site.cluster(phase)
    if cluster is None:
        return
    blocks = 2 ** (NODE_PREFIX - cluster.pods.prefixlen) if cluster.pods.prefixlen <= NODE_PREFIX else 0
    count = len(site.hosts_in(phase))
    if blocks < count:
        prefix = NODE_PREFIX - (count - 1).bit_length()
        yield Broken(
            ("clusters", f"phase{phase}", "pods"),
            f"is {cluster.pods}, room for {blocks} nodes at a /{NODE_PREFIX} each, and phase {phase} has {count}",
            f"write a range of /{prefix} or wider",
        )


def service_networks_have_a_usable_size(site: Site, phase: Phase) -> Iterator[Broken]:
    """The API server takes no range wider than /12; a /24 is the least that leaves room to grow."""
    cluster = site.cluster(phase)
    if cluster is not None and not WIDEST_SERVICES <= cluster.services.prefixlen <= NARROWEST_SERVICES:
        yield Broken(
            ("clusters", f"phase{phase}", "services"),
            f"is {cluster.services}, and the API server wants /{WIDEST_SERVICES} to /{NARROWEST_SERVICES}",
            "write a range such as 10.43.0.0/16",
        )


def _ranges(site: Site) -> list[Range]:
    found: list[Range] = []
    for name in ("nodes", "storage"):
        network = look(site.networks, name)
        if is_known(network) and network is not None:
            found.append((("networks", name, "cidr"), network.cidr))
    for phase in ("phase1", "phase2"):
        cluster = look(site.clusters, phase)
        if is_known(cluster) and cluster is not None:
            found += [(("clusters", phase, key), look(cluster, key)) for key in ("pods", "services")]
    return [(place, network) for place, network in found if is_known(network)]


def _rank(each: Range) -> int:
    return 0 if each[0][0] == "networks" else 1


def _phases(one: Place, other: Place) -> bool:
    return one[0] == other[0] == "clusters" and one[1] != other[1]
