"""The operating system, its kernel and what it runs on."""

from collections.abc import Iterator

from rackwright.preflight.finding import Fault, changes, forbids, warns
from rackwright.preflight.machine import Machine
from rackwright.preflight.parsers import memory
from rackwright.preflight.parsers.operating_system import cgroups_are_unified, kernel_version, release
from rackwright.site.hosts import Host
from rackwright.site.operating_system import SUPPORTED
from rackwright.site.site import Site

OLDEST_KERNEL = (5, 14)  # Rocky 9's, the oldest of the supported systems'
MACHINE = "x86_64"
KERNEL_TAKES = 0.03  # of the memory, at most, for page tables and firmware; a missing module of 16 or 24 is more
CRASH_KERNEL_GIB = 1.0
HUGE_PAGES_SPARE_GIB = 0.5


def system_is_the_sites(machine: Machine, host: Host, site: Site) -> Iterator[Fault]:
    """The distribution and its release are those of the site, and the processor is one that packages are made for."""
    wished = host.operating_system or site.operating_system
    found = release(machine.system.os_release)
    same = found.release == wished.release or found.release.startswith(f"{wished.release}.")
    if found.name != wished.name or not same or (wished.name == "ubuntu" and found.release != wished.release):
        known = ", ".join(f"{name} {' or '.join(releases)}" for name, releases in SUPPORTED.items())
        yield forbids(
            f"runs {found.name} {found.release}, and the site says {wished.name} {wished.release}",
            f"Install {wished.name} {wished.release}, or write what it runs in the site file (supported: {known})",
        )
    if machine.system.machine != MACHINE:
        yield forbids(f"is {machine.system.machine}, and packages are {MACHINE}'s", f"Use an {MACHINE} server")


def kernel_is_new_enough(machine: Machine) -> Iterator[Fault]:
    """The kernel is no older than a supported system's first, and has a server's drivers."""
    kernel = machine.system.kernel
    if kernel_version(kernel) < OLDEST_KERNEL:
        yield forbids(
            f"runs kernel {kernel}, and the oldest that is known to work is {'.'.join(map(str, OLDEST_KERNEL))}",
            "Boot the system's own kernel",
        )
    if "-cloud-" in kernel:
        yield warns(
            f"runs kernel {kernel}, which leaves out drivers of real machines",
            "Install linux-image-amd64 and boot it",
        )


def control_groups_are_version_2(machine: Machine) -> Iterator[Fault]:
    """Control groups are of version 2 alone: kubelet 1.35 and newer ends at once otherwise."""
    if not cgroups_are_unified(machine.system.cgroup_mounts):
        yield forbids(
            "mounts control groups of version 1, with which the kubelet does not start",
            "Add systemd.unified_cgroup_hierarchy=1 to the kernel's command line and reboot",
        )


def swap_is_off(machine: Machine) -> Iterator[Fault]:
    """Swap is off, now and after a reboot, as the kubelet wants it."""
    used, returning = memory.swap_in_use(machine.swap), memory.swap_that_returns(machine.swap)
    if used or returning:
        now = f"swaps to {', '.join(used)}" if used else "does not swap now"
        later = f", and after a reboot by {', '.join(returning)}" if returning else ""
        yield changes(f"{now}{later}", "swapoff -a, and take out what turns it on again")


def memory_is_the_sites(machine: Machine, host: Host) -> Iterator[Fault]:
    """Memory is what the site says, less what the kernel and firmware take (3 % and 1 GiB)."""
    found = memory.memory_gib(machine.system.meminfo)
    if found < host.memory_gib * (1 - KERNEL_TAKES) - CRASH_KERNEL_GIB:
        yield forbids(
            f"has {found:.0f} GiB of memory, and the site says {host.memory_gib}",
            "Look for a module that is not seen (dmidecode -t memory), or correct memory_gib",
        )
    elif found > host.memory_gib * (1 + KERNEL_TAKES):
        yield warns(
            f"has {found:.0f} GiB of memory, and the site says {host.memory_gib}", "Correct memory_gib to use it all"
        )


def huge_pages_are_not_set_aside(machine: Machine) -> Iterator[Fault]:
    """No huge pages are set aside: nothing of the platform asks for them."""
    found = memory.huge_pages_gib(machine.system.meminfo)
    if found > HUGE_PAGES_SPARE_GIB:
        yield warns(
            f"sets {found:.0f} GiB of its memory aside as huge pages, and nothing of the site uses them",
            "Take vm.nr_hugepages and hugepages= out, unless something else on the machine needs them",
        )


def cores_are_the_sites(machine: Machine, host: Host) -> Iterator[Fault]:
    """Processor threads are as many as the site says."""
    found = machine.system.cores
    if found is not None and found < host.cores:
        yield forbids(
            f"has {found} processor threads, and the site says {host.cores}",
            "Look whether threads or a processor are off in the firmware, or correct cores",
        )
    elif found is not None and found > host.cores:
        yield warns(f"has {found} processor threads, and the site says {host.cores}", "Correct cores to use them all")


def name_is_the_sites(machine: Machine, host: Host) -> Iterator[Fault]:
    """The host's name is its node's name: another name may mean another machine."""
    found = machine.system.name
    if found != host.name and not found.startswith(f"{host.name}."):
        yield forbids(
            f"calls itself {found}, and the site calls it {host.name}",
            f"See that {host.address} is the machine that is meant, then: hostnamectl set-hostname {host.name}",
        )
