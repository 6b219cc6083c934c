"""Ports that a host needs for its part in a phase."""

from collections.abc import Iterator
from typing import NamedTuple

from rackwright.site.hosts import Host, Phase
from rackwright.site.site import Site


class Need(NamedTuple):
    """A port, what needs it, and the programs that may have it already."""

    protocol: str
    port: int
    purpose: str
    owners: tuple[str, ...]


def needs(site: Site, host: Host, phase: Phase) -> Iterator[Need]:
    """Every port that must be free on a host, or held by the cluster's own program."""
    k3s = ("k3s", "k3s-server", "k3s-agent", "containerd", "kubelet")
    yield Need("tcp", 10250, "the kubelet", ("kubelet", *k3s))
    if phase == 1:
        yield Need("udp", 8472, "the pods' network", ("", "flanneld", *k3s))  # the kernel's own has no program
    else:
        yield Need("tcp", 179, "the pods' network", ("kube-router",))
    if is_control(site, host, phase):
        yield Need("tcp", 6443, "the API server", ("kube-apiserver", *k3s))
        for port in (2379, 2380):
            yield Need("tcp", port, "etcd", ("etcd", *k3s))
        yield Need("tcp", 10257, "the controller manager", ("kube-controller", "kube-controller-manager", *k3s))
        yield Need("tcp", 10259, "the scheduler", ("kube-scheduler", *k3s))
    if phase == 1:
        yield Need("tcp", site.gateway.port, "the gateway", ("lb-tcp", "envoy", *k3s))


def is_control(site: Site, host: Host, phase: Phase) -> bool:
    """True for a host that runs the API server and etcd."""
    if phase == 1:
        return site.clusters.phase1 is not None and host.address == site.clusters.phase1.api
    return "control" in host.roles
