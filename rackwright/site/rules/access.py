"""How a site is reached: the gateway's name and port, and the files that open its clusters."""

from collections.abc import Iterator

from rackwright.site.clusters import Clusters
from rackwright.site.gateway import Gateway
from rackwright.site.hosts import Host
from rackwright.site.networks import Networks
from rackwright.site.postgresql import PORT_BETWEEN_PHASES
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.shown import shown
from rackwright.site.reading.unknown import is_known

# Ports that every node answers at by itself: a load balancer on the node cannot have them.
TAKEN = {
    22: "SSH",
    53: "DNS",
    111: "rpcbind",
    179: "BGP",
    2049: "NFS",
    2379: "etcd",
    2380: "etcd",
    2381: "etcd's metrics",
    6443: "the cluster's API",
    6444: "k3s",
    9100: "the node exporter",
    10248: "the kubelet",
    10249: "kube-proxy",
    10250: "the kubelet",
    10256: "kube-proxy",
    10257: "the controller manager",
    10258: "the cloud controller",
    10259: "the scheduler",
    PORT_BETWEEN_PHASES: "PostgreSQL, while the other phase's follows it,",
}


def gateway_is_no_host(host: Host, place: Place, gateway: Gateway) -> Iterator[Broken]:
    """The machine and the gateway would be one name with two addresses."""
    if gateway.host.partition(".")[0] == host.name:
        yield Broken(
            ("gateway", "host"),
            f"is {gateway.host}, which begins with {host.name}, the name of hosts[{place[1]}]",
            "give the gateway a name of its own, such as llm",
        )


def gateway_has_a_free_port(gateway: Gateway) -> Iterator[Broken]:
    """The gateway answers at a port of the nodes."""
    if gateway.port in TAKEN:
        yield Broken(
            ("gateway", "port"), f"is {gateway.port}, at which {TAKEN[gateway.port]} answers on every node", "write 443"
        )


def clusters_have_their_own_kubeconfig(clusters: Clusters) -> Iterator[Broken]:
    """Both clusters run side by side while the site moves."""
    first, second = clusters.phase1, clusters.phase2
    if first is not None and second is not None and first.kubeconfig == second.kubeconfig:
        yield Broken(
            ("clusters", "phase2", "kubeconfig"),
            f"is {shown(second.kubeconfig)}, as clusters.phase1.kubeconfig is, and the two are different clusters",
            "name a file of its own for each",
        )


def name_and_time_come_from_servers(networks: Networks) -> Iterator[Broken]:
    """A machine that asks itself learns nothing."""
    for key in ("name_servers", "time_servers"):
        for index, server in enumerate(getattr(networks, key)):
            if is_known(server) and str(server).startswith(("127.", "0.", "localhost", "169.254.")):
                yield Broken(
                    ("networks", key, index),
                    f"is {server}, which is every machine itself",
                    "write the address of a server on the network",
                )
