"""The driver's ground: what is loaded, what is left, and whether a new one can be built here."""

import re
from collections.abc import Iterator

from rackwright.preflight.finding import Fault, changes, forbids, warns
from rackwright.preflight.machine import Machine
from rackwright.preflight.parsers.operating_system import secure_boot_is_on
from rackwright.preflight.parsers.packages import held
from rackwright.preflight.questions import build_packages, headers
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host
from rackwright.site.site import Site

UPGRADE = "Run playbooks/upgrade.yml: it drains the node, exchanges the driver in one transaction and reboots"
RUNFILE = ("/usr/bin/nvidia-installer", "/usr/bin/nvidia-uninstall")
OF_A_BRANCH = re.compile(
    r"^(?:nvidia-driver|nvidia-headless|nvidia-utils|nvidia-dkms|nvidia-kernel-\w+|nvidia-fabricmanager|cuda-drivers)"
    r"(?:-[a-z-]+)?-(\d{3})(?:-|$)"
)


def nouveau_is_not_loaded(machine: Machine, host: Host) -> Iterator[Fault]:
    """Nouveau, the kernel's own driver, does not hold the GPUs."""
    if host.gpus and "nouveau" in machine.system.modules:
        yield changes(
            "has nouveau loaded, which holds the GPUs",
            "Block nouveau (blacklist, options nouveau modeset=0), renew the initramfs, reboot",
        )


def secure_boot_is_the_sites(machine: Machine, host: Host, site: Site) -> Iterator[Fault]:
    """Secure Boot is as the site says: it refuses a module that was built on the host."""
    state = machine.system.secure_boot
    is_on = state.efi and secure_boot_is_on(state.value)
    if host.gpus and is_on and not (site.gpu.secure_boot and site.gpu.driver_source == "distribution"):
        yield forbids(
            f"has Secure Boot on, and the site says secure_boot {str(site.gpu.secure_boot).lower()} with driver_source "
            f"{site.gpu.driver_source}: the firmware refuses the module (key was rejected)",
            "Turn Secure Boot off; or write secure_boot: true with driver_source: distribution (Ubuntu's signed "
            "modules); a key of your own (mokutil --import) has to be confirmed at the console",
        )
    if host.gpus and site.gpu.secure_boot and not is_on:
        yield warns("has Secure Boot off, and the site says it is on", "Turn it on, or write secure_boot: false")


def headers_are_offered(machine: Machine, host: Host, site: Site) -> Iterator[Fault]:
    """What the driver is built from is in the repositories for the kernel that runs, before anything is changed."""
    if host.gpus is None:
        return
    kernel = machine.system.kernel
    for package in headers(site, host):
        wanted = package.replace("{kernel}", kernel)
        if wanted not in machine.offered:
            yield forbids(
                f"runs kernel {kernel}, and no repository has {wanted}",
                "Install the newest kernel of the system and reboot into it, or (Ubuntu) take its signed modules with "
                "driver_source: distribution",
            )


def driver_can_be_built(machine: Machine, host: Host, site: Site) -> Iterator[Fault]:
    """A compiler and make are there, or can be had."""
    missing = [each for each in build_packages(site, host) if each not in machine.offered]
    if host.gpus and missing:
        yield forbids(
            f"has no {' and no '.join(missing)}, and no repository has them: DKMS would fail",
            "Configure the system's main repository (RHEL: EPEL for dkms)",
        )


def driver_is_of_one_branch(machine: Machine, host: Host, site: Site) -> Iterator[Fault]:
    """No package of another branch, and no driver of NVIDIA's .run installer, is left."""
    branch = str(site.gpu.driver_branch)
    if host.gpus is None:
        return
    foreign = sorted(name for name in machine.installed if (match := OF_A_BRANCH.match(name)) and match[1] != branch)
    said = f"has packages of another driver branch, and the site says {branch}: {', '.join(foreign)}"
    if foreign and held(machine.packages).issuperset(foreign):  # as provisioning leaves them
        yield changes(said, UPGRADE)
    elif foreign:
        yield forbids(said, f"Remove them, with the workloads stopped: {_purge(machine)} {' '.join(foreign)}")
    if any(path in machine.leftovers.paths for path in RUNFILE):
        yield forbids(
            "has a driver of NVIDIA's .run installer, which packages cannot replace", "nvidia-uninstall, then reboot"
        )


def driver_is_the_catalogs(machine: Machine, host: Host, site: Site, catalog: Catalog) -> Iterator[Fault]:
    """A driver that is loaded is of the catalog's version and the site's flavour."""
    driver, wished = machine.driver, catalog.drivers.get(site.gpu.driver_branch)
    if host.gpus is None or driver is None or wished is None:
        return
    if driver.version != wished.version or driver.flavour != site.gpu.driver_flavour:
        yield changes(
            f"has driver {driver.version} ({driver.flavour}), and the site wants {wished.version} "
            f"({site.gpu.driver_flavour})",
            UPGRADE,
        )


def _purge(machine: Machine) -> str:
    return "apt-get purge" if machine.packages.system == "apt" else "dnf remove"
