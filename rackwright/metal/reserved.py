"""What a host keeps back from pods, for its system, its kubelet and, on a server, the control plane."""

from typing import NamedTuple

from rackwright.site.hosts import Host

SHARE = 8  # a small host keeps an eighth, so that something is left for pods
CORES, MEMORY_MIB = 2, 4096  # what the rules of the site file count for system and kubelet (rules/host_room.py)
EVICTION_SHARE = 8  # of that memory, what is left when the kubelet begins to end pods


class Reserved(NamedTuple):
    """Processor time in thousandths of a thread, memory in MiB, and the free memory at which pods are ended."""

    millicores: int
    memory_mib: int
    eviction_mib: int


def reserved(host: Host) -> Reserved:
    """All three together are what the rules count for a large host, and an eighth of a small one."""
    memory = min(MEMORY_MIB, host.memory_gib * 1024 // SHARE)
    eviction = max(memory // EVICTION_SHARE, 100)  # the kubelet's own default, in MiB
    return Reserved(min(CORES * 1000, host.cores * 1000 // SHARE), memory - eviction, eviction)
