"""Ports by which one host's GPUs read another's memory: RoCE, on fast ports of the storage network."""

from rackwright.site.hosts import Host, Nic

ROCE_GBPS = 100
RESOURCE_PREFIX, RESOURCE_NAME = "rdma", "storage"
RESOURCE = f"{RESOURCE_PREFIX}/{RESOURCE_NAME}"  # what a pod asks Kubernetes for
PODS = 64  # pods of a host that may use its ports at once: more than it has GPUs


def rdma_ports(host: Host) -> tuple[Nic, ...]:
    """RoCE asks for lossless queues, which only the storage network's switches have, and fast cards are worth."""
    return tuple(nic for nic in host.nics if nic.speed_gbps >= ROCE_GBPS and "storage" in networks_of(host, nic))


def rdma_gbps(host: Host) -> int | None:
    """The speed at which a cache leaves a host or comes to it: that of one port; None without any."""
    return max((nic.speed_gbps for nic in rdma_ports(host)), default=None)


def networks_of(host: Host, nic: Nic) -> set[str | None]:
    """What a port carries: its own network, its bond's, and those of VLANs over either."""
    over = {nic.name, *(bond.name for bond in host.bonds if nic.name in bond.nics)}
    networks: set[str | None] = {port.network for port in host.ports if port.name in over}
    return networks | {vlan.network for vlan in host.vlans if vlan.over in over}
