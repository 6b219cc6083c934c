"""What every machine's kernel is told, whatever the machine is for, and what no automatic upgrade may move."""

from dataclasses import dataclass

MODULES = {
    "overlay": "containers' layered file systems",
    "br_netfilter": "policies see what goes from pod to pod over a bridge",
    "nf_conntrack": "services keep their connections",
    "ip_set": "policies name many addresses at once",
}
KEPT = {  # beginnings of package names; unattended-upgrades reads them as patterns
    "deb": ("linux-", "nvidia", "libnvidia", "cuda", "kube", "containerd", "cri-tools"),
    "rpm": ("kernel*", "kmod-*", "nvidia*", "libnvidia*", "cuda*", "kube*", "containerd*", "cri-tools*"),
}


@dataclass(frozen=True)
class KernelSetting:
    """One key below /proc/sys, its value, and why."""

    key: str
    value: str
    why: str


SETTINGS = (
    KernelSetting("vm.overcommit_memory", "1", "the kubelet demands it (protect-kernel-defaults)"),
    KernelSetting("vm.panic_on_oom", "0", "the kubelet demands it: one process ends, not the machine"),
    KernelSetting("kernel.panic", "10", "the kubelet demands it: a dead kernel reboots after 10 s"),
    KernelSetting("kernel.panic_on_oops", "1", "the kubelet demands it: a broken kernel does not go on"),
    KernelSetting("kernel.keys.root_maxkeys", "1000000", "the kubelet demands it: a key for each container"),
    KernelSetting("kernel.keys.root_maxbytes", "25000000", "the kubelet demands it"),
    KernelSetting("net.ipv4.ip_forward", "1", "packets of pods pass through the machine"),
    KernelSetting("net.bridge.bridge-nf-call-iptables", "1", "policies see what goes over the pods' bridge"),
    KernelSetting("net.bridge.bridge-nf-call-ip6tables", "1", "the same for IPv6"),
    KernelSetting("fs.inotify.max_user_instances", "8192", "kubelet, containerd and log readers watch as one user"),
    KernelSetting("fs.inotify.max_user_watches", "1048576", "the same: files that they watch"),
    KernelSetting("vm.max_map_count", "1048576", "Qdrant and ClickHouse map many files into memory"),
    KernelSetting("net.core.rmem_max", "268435456", "one stream fills 100 Gb/s only with large buffers"),
    KernelSetting("net.core.wmem_max", "268435456", "the same for what is sent"),
    KernelSetting("net.ipv4.tcp_rmem", "4096 131072 134217728", "TCP may grow its buffers that far"),
    KernelSetting("net.ipv4.tcp_wmem", "4096 16384 134217728", "the same for what is sent"),
    KernelSetting("net.core.netdev_max_backlog", "250000", "bursts at 100 Gb/s wait instead of being dropped"),
    KernelSetting("net.ipv4.tcp_mtu_probing", "1", "a switch that swallows jumbo packets does not end a stream"),
)


def differing_settings(said: str) -> list[str]:
    """Keys whose value is another one, or that are not there, by what `sysctl KEY...` said."""
    found = dict(line.split(" = ", 1) for line in said.splitlines() if " = " in line)
    return [each.key for each in SETTINGS if " ".join(found.get(each.key, "").split()) != each.value]
