"""Packages: whether they can be had, and what would move or keep them against the site's will."""

from collections.abc import Iterator

from rackwright.preflight.finding import Fault, changes, forbids, warns
from rackwright.preflight.machine import Machine
from rackwright.preflight.parsers.driver import (
    excluded_from_upgrades,
    installs_by_itself,
    kept_from_upgrades,
    upgrades_by_itself,
)
from rackwright.preflight.parsers.packages import held
from rackwright.preflight.parsers.tables import why_not
from rackwright.preflight.upstream import Upstream, upstreams
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host, Phase
from rackwright.site.site import Site

OF_THE_DRIVER = ("nvidia", "libnvidia", "cuda-drivers")
OF_THE_CLUSTER = ("kubelet", "kubeadm", "kubectl", "containerd", "cri-tools", "k3s")
MUST_BE_KEPT = {"nvidia": "the driver", "linux-": "the kernel"}


def repositories_answer(machine: Machine) -> Iterator[Fault]:
    """Every repository that is configured can be read, and the package system answers."""
    for address, error in machine.packages.repositories.items():
        if error:
            yield forbids(
                f"cannot read {address} ({error})",
                "Mend it in /etc/apt/sources.list.d, or the way there (proxy, mirror)",
            )
    packages = machine.packages
    if packages.system and packages.offered.code and not any(packages.repositories.values()):
        yield forbids(
            f"gets no answer of its package system ({packages.system}: {why_not(packages.offered)})",
            "Run apt-get update (dnf makecache) on it, and mend what it says",
        )


def upstream_answers(machine: Machine, host: Host, site: Site, phase: Phase, catalog: Catalog) -> Iterator[Fault]:
    """What the site needs from elsewhere can be read there, or a configured mirror has it."""
    for upstream in upstreams(site, host, phase, catalog):
        error = machine.addresses.get(upstream.address, "it was not asked")
        if error and not _is_mirrored(machine, upstream):
            yield forbids(
                f"cannot read {upstream.address} ({error}), where {upstream.purpose} comes from",
                "Open the way (proxy, firewall), or configure a mirror that has it",
            )


def holds_are_the_sites(machine: Machine, site: Site, catalog: Catalog) -> Iterator[Fault]:
    """A package that is held is held at the version that the site wants."""
    wished = catalog.drivers.get(site.gpu.driver_branch)
    versions = [wished.version] if wished else []
    pinned = ("containerd", "cri-tools", "nvidia-container-toolkit")
    versions += [catalog.kubernetes.kubeadm, *(catalog.packages.get(each, "") for each in pinned)]
    for name in sorted(held(machine.packages)):
        package = machine.installed.get(name)
        if package is None or any(version and package.is_of(version) for version in versions):
            continue
        said = f"holds {name} at {package.version}, and the site wants another version"
        if name.startswith(OF_THE_DRIVER):
            yield changes(said, "Run playbooks/upgrade.yml, which exchanges what provisioning holds")
        elif name.startswith(OF_THE_CLUSTER):
            yield forbids(said, f"apt-mark unhold {name} (dnf versionlock delete {name})")


def nothing_upgrades_by_itself(machine: Machine, host: Host) -> Iterator[Fault]:
    """Automatic upgrades leave the driver and the kernel alone."""
    automatic = machine.packages.automatic
    if machine.packages.system == "apt" and upgrades_by_itself(automatic):
        kept = kept_from_upgrades(automatic)
        moved = [what for start, what in MUST_BE_KEPT.items() if not any(start.rstrip("-") in each for each in kept)]
        if moved and host.gpus:
            yield changes(
                f"lets unattended-upgrades move {' and '.join(moved)}, after which the modules do not load",
                'Add "nvidia", "libnvidia" and "linux-" to Unattended-Upgrade::Package-Blacklist',
            )
    timer = machine.units.get("dnf-automatic")
    excluded = " ".join(excluded_from_upgrades(automatic))
    kept_back = "kernel" in excluded and "nvidia" in excluded
    if timer and timer.is_active and installs_by_itself(automatic) and host.gpus and not kept_back:
        yield warns(
            "lets dnf-automatic install upgrades, among them the kernel's",
            "Write apply_updates = no, or excludepkgs = kernel* nvidia* below [base] in /etc/dnf/automatic.conf",
        )


def _is_mirrored(machine: Machine, upstream: Upstream) -> bool:
    """True where one of its packages is in what is configured already."""
    return any(package in machine.offered for package in upstream.packages)
