"""Network policies, read as whoever enforces them reads them: may this pod call that one at this port."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Literal

from rackwright.checks.objects import Object, Objects, labels_of, matches, namespace_of

Direction = Literal["Ingress", "Egress"]


@dataclass(frozen=True)
class End:
    """One end of a connection: a pod by its labels, or a host by its addresses."""

    namespace: str
    labels: Mapping[str, str]
    addresses: tuple[str, ...] = ()
    ports: tuple[Object, ...] = field(default=())
    on_host_network: bool = False


def is_open(objects: Objects, source: End, target: End, port: int) -> bool:
    """Whether the policies of both ends let a TCP connection through."""
    return _passes(objects, "Egress", source, target, port, target) and _passes(
        objects, "Ingress", target, source, port, target
    )


def _passes(objects: Objects, direction: Direction, held: End, other: End, port: int, target: End) -> bool:
    """Whether the policies that hold one end let the other through; a pod on its host's network is held by none."""
    if held.on_host_network:
        return True
    policies = [
        each["spec"]
        for each in objects.all("NetworkPolicy", held.namespace)
        if direction in _types(each["spec"]) and matches(each["spec"]["podSelector"], held.labels)
    ]
    key = "from" if direction == "Ingress" else "to"
    rules = [rule for spec in policies for rule in spec.get(direction.lower()) or []]
    return not policies or any(
        _at(rule.get("ports"), port, target) and _to(objects, rule.get(key), held, other) for rule in rules
    )


def _types(spec: Object) -> list[str]:
    return spec.get("policyTypes") or ["Ingress", *(["Egress"] if "egress" in spec else [])]


def _at(ports: Iterable[Object] | None, port: int, target: End) -> bool:
    """Whether one of a rule's ports is this one; a rule without ports means all of them."""
    if not ports:
        return True
    named = {each.get("name"): each["containerPort"] for each in target.ports}
    for each in ports:
        if each.get("protocol", "TCP") != "TCP":
            continue
        first = each.get("port")
        if first is None:
            return True
        number = named.get(first) if isinstance(first, str) else first
        if number is not None and number <= port <= each.get("endPort", number):
            return True
    return False


def _to(objects: Objects, peers: Iterable[Object] | None, held: End, other: End) -> bool:
    """Whether the other end is among a rule's peers; a rule without peers means everybody."""
    return not peers or any(_is_peer(objects, peer, held, other) for peer in peers)


def _is_peer(objects: Objects, peer: Object, held: End, other: End) -> bool:
    if block := peer.get("ipBlock"):
        inside = [
            address
            for address in other.addresses
            if ip_address(address) in ip_network(block["cidr"])
            and not any(ip_address(address) in ip_network(each) for each in block.get("except") or [])
        ]
        return bool(inside)
    if other.on_host_network:
        return False  # it comes from its host's address, and bears no labels on the way
    if "namespaceSelector" in peer:
        namespace = objects.get("Namespace", other.namespace)
        in_namespace = namespace is not None and matches(peer["namespaceSelector"], labels_of(namespace))
    else:
        in_namespace = other.namespace == held.namespace
    return in_namespace and ("podSelector" not in peer or matches(peer["podSelector"], other.labels))


def is_shut(objects: Objects, namespace: str) -> list[Direction]:
    """Directions in which every pod of a namespace is held by a policy, so that only named ways are open."""
    directions: tuple[Direction, ...] = ("Ingress", "Egress")
    everybody = [
        each["spec"]
        for each in objects.all("NetworkPolicy", namespace)
        if each["spec"]["podSelector"] in ({}, {"matchLabels": {}}) and namespace_of(each) == namespace
    ]
    return [direction for direction in directions if any(direction in _types(spec) for spec in everybody)]
