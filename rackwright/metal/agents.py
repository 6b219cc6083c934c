"""A host on which agents' tools run: code that nobody has read, beside a kernel that everybody there shares."""

from collections.abc import Mapping
from typing import Any

from rackwright.metal.reserved import reserved
from rackwright.site.hosts import Host

NO_CORE = "|/bin/false"  # a dump of a tool's memory would keep a tenant's words on the host's own drive
EVERYWHERE = {
    "dev.tty.ldisc_autoload": "0",
    "fs.protected_fifos": "2",
    "fs.protected_hardlinks": "1",
    "fs.protected_regular": "2",
    "fs.protected_symlinks": "1",
    "fs.suid_dumpable": "0",
    "kernel.core_pattern": NO_CORE,
    "kernel.dmesg_restrict": "1",
    "kernel.kptr_restrict": "2",
    "kernel.perf_event_paranoid": "4",
    "kernel.unprivileged_bpf_disabled": "1",
    "net.core.bpf_jit_harden": "2",
    "vm.unprivileged_userfaultfd": "0",
}
# Not every kernel has them. User namespaces are only kept from users: sandboxes such as gVisor's and pods' own user
# namespaces are made by root, and user.max_user_namespaces = 0 would take them too. A tracer may trace its children
# (ptrace_scope 1), since debuggers among the tools and gVisor do.
WHERE_KNOWN = {
    "kernel.io_uring_disabled": "1",
    "kernel.unprivileged_userns_clone": "0",
    "kernel.yama.ptrace_scope": "1",
}
PIDS_OF_A_POD = 4096  # a tool that forks without end ends itself, not its node


def kubelet() -> dict[str, Any]:
    """What the kubelet of such a host is told beside the rest; a field of KubeletConfiguration each."""
    return {"podPidsLimit": PIDS_OF_A_POD}


def settings(host: Host) -> dict[str, Any]:
    """What the role is told: the kernel's settings, and memory that pods can never take from the system."""
    return {
        "sysctls": EVERYWHERE,
        "sysctls_where_known": WHERE_KNOWN,
        "system_memory_mib": reserved(host).memory_mib,
    }


def differing(wanted: Mapping[str, str], shown: str) -> list[str]:
    """Settings that the kernel shows otherwise; `shown` is what `sysctl` prints, without those it does not know."""
    found = dict(line.split(" = ", 1) for line in shown.splitlines() if " = " in line)
    return [f"{key} = {found[key]}" for key, value in wanted.items() if key in found and found[key].strip() != value]
