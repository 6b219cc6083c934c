"""Network policies: everything is shut, in and out, but for ways that are named one by one.

They are written for what enforces them on k3s, kube-router: it lets the kubelet of the pod's own node in, and it sees
a packet after the service address has been replaced by the pod's or the node's.
"""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network
from typing import Any
from urllib.parse import urlsplit

from components.base.objects import Manifest
from rackwright.site.agents import WayOut
from rackwright.site.clusters import Cluster
from rackwright.site.hosts import Host
from rackwright.site.object_storage import ObjectStorage

MONITORING = "monitoring"  # the namespace that scrapes come from
API_PORT = 6443
Rule = dict[str, Any]


def policy(
    name: str, *, ingress: Sequence[Rule] = (), egress: Sequence[Rule] = (), pods: Rule | None = None
) -> Manifest:
    """Shut the namespace's pods (or those with labels) in both directions, but for these ways."""
    spec: dict[str, Any] = {
        "podSelector": {"matchLabels": pods} if pods else {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": list(ingress),
        "egress": list(egress),
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name},
        # An empty list and an absent one mean the same; absent ones never differ from what the API server keeps.
        "spec": {key: value for key, value in spec.items() if value != []},
    }


def tcp(*ports: int | str) -> list[Rule]:
    """TCP ports, by number or by name."""
    return [{"protocol": "TCP", "port": port} for port in ports]


def pods_in(namespace: str, **labels: str) -> Rule:
    """Pods of a namespace, all of them or those with labels."""
    peer: Rule = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    return peer | ({"podSelector": {"matchLabels": labels}} if labels else {})


def labelled_namespaces(label: str) -> Rule:
    """Pods of every namespace that bears a label, which is how an application is let in."""
    return {"namespaceSelector": {"matchLabels": {label: "true"}}}


def neighbours() -> Rule:
    """Every pod of the same namespace."""
    return {"podSelector": {}}


def from_anyone(*ports: int | str) -> Rule:
    """Anyone may come in at these ports.

    So it is for webhooks: the API server calls from a node's own address, which differs by network and node.
    """
    return {"ports": tcp(*ports)}


def from_peers(peers: Iterable[Rule], *ports: int | str) -> Rule:
    """These may come in at these ports."""
    return {"from": list(peers), "ports": tcp(*ports)}


def to_peers(peers: Iterable[Rule], *ports: int | str) -> Rule:
    """The pods may go out to these at these ports."""
    return {"to": list(peers), "ports": tcp(*ports)}


def scrapes(*ports: int | str) -> Rule:
    """Prometheus may read metrics at these ports."""
    return from_peers([pods_in(MONITORING, **{"app.kubernetes.io/name": "prometheus"})], *ports)


def names() -> Rule:
    """The pods may ask for names."""
    return {
        "to": [pods_in("kube-system", **{"k8s-app": "kube-dns"})],
        "ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")],
    }


def to_api(cluster: Cluster, hosts: Iterable[Host]) -> Rule:
    """The pods may call the Kubernetes API: its service address, and the machines that stand behind it."""
    addresses = {cluster.services.network_address + 1, cluster.api, *(host.address for host in hosts)}
    return {
        "to": [{"ipBlock": {"cidr": f"{address}/32"}} for address in sorted(addresses)],
        "ports": tcp(443, API_PORT),
    }


def to_outside(inside: Iterable[str], *ports: int) -> Rule:
    """The pods may go out to the world at these ports, but to nothing inside (networks of the site, link-local)."""
    shut = sorted({*inside, "169.254.0.0/16"})
    return {"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": shut}}], "ports": tcp(*ports)}


def to_object_storage(store: ObjectStorage) -> Rule:
    """The pods may call the site's store at its port, wherever its name leads: inside the site, mostly."""
    address = urlsplit(store.endpoint)
    return to_outside((), address.port or (443 if address.scheme == "https" else 80))


def to_way(way: WayOut, inside: Iterable[str]) -> Rule:
    """A way out that the site names; networks of its own within a wider range stay shut."""
    shut = [str(network) for network in way.left_out(map(IPv4Network, inside))]
    block = {"cidr": str(way.cidr)} | ({"except": shut} if shut else {})
    return {"to": [{"ipBlock": block}], "ports": tcp(*way.ports)}
