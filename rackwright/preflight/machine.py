"""One machine's answers, understood as far as a check asks for them."""

from functools import cached_property
from ipaddress import IPv4Address
from typing import TypeVar

from rackwright.preflight import answers
from rackwright.preflight.answers import Answers
from rackwright.preflight.parsers import driver as driver_of
from rackwright.preflight.parsers import drives as drives_of
from rackwright.preflight.parsers import links as links_of
from rackwright.preflight.parsers import packages as packages_of
from rackwright.preflight.parsers import units as units_of
from rackwright.preflight.seen import NotSeen
from rackwright.site.hosts import Host, Nic

Section = TypeVar("Section")
GPU_CLASSES = ("0x0300", "0x0302")  # with a screen, and without
SWITCH_CLASS = "0x0680"


class Machine:
    """What one host is, as far as it said; a property of what it did not say raises NotSeen."""

    def __init__(self, host: Host, answers: Answers) -> None:
        self.host = host
        self.answers = answers

    @property
    def system(self) -> answers.System:
        """What runs on it."""
        return self._section("The system", "system", self.answers.system)

    @property
    def swap(self) -> answers.Swap:
        """Its swap."""
        return self._section("Swap", "swap", self.answers.swap)

    @property
    def clock(self) -> answers.Clock:
        """Its time."""
        return self._section("The clock", "clock", self.answers.clock)

    @property
    def lookups(self) -> answers.Lookups:
        """Its names."""
        return self._section("Names", "lookups", self.answers.lookups)

    @property
    def gpus(self) -> answers.Gpus:
        """What NVIDIA made in it."""
        return self._section("GPUs", "gpus", self.answers.gpus)

    @property
    def network(self) -> answers.Network:
        """Its ports."""
        return self._section("The network", "network", self.answers.network)

    @property
    def paths(self) -> answers.Paths:
        """The ways to its peers."""
        return self._section("The way to other hosts", "paths", self.answers.paths)

    @property
    def packages(self) -> answers.Packages:
        """Its packages."""
        return self._section("Packages", "packages", self.answers.packages)

    @property
    def addresses(self) -> dict[str, str]:
        """Why each web address cannot be read from it."""
        return self._section("Web addresses", "addresses", self.answers.addresses)

    @property
    def leftovers(self) -> answers.Leftovers:
        """Traces of an earlier life."""
        return self._section("Leftovers", "leftovers", self.answers.leftovers)

    @property
    def flush(self) -> answers.Flush:
        """How long its disk takes to keep its word."""
        return self._section("The time of a kept write", "flush", self.answers.flush)

    @cached_property
    def installed(self) -> dict[str, packages_of.Installed]:
        """Packages of interest that it has."""
        return packages_of.installed(self.packages)

    @cached_property
    def offered(self) -> frozenset[str]:
        """Packages that it can have, or has; of dnf's also with their version and machine."""
        versions = (f"{each.name}-{each.version}" for each in self.installed.values())
        return packages_of.offered(self.packages).union(versions)

    @property
    def driver(self) -> driver_of.Driver | None:
        """The driver that runs, else the one that the running kernel would load."""
        return driver_of.loaded_driver(self.gpus) or driver_of.built_driver(self.gpus)

    @cached_property
    def units(self) -> dict[str, units_of.Unit]:
        """Its units of systemd's."""
        return units_of.units(self._section("Units", "services", self.answers.services))

    @cached_property
    def links(self) -> dict[str, links_of.Link]:
        """Its links by their present names."""
        return links_of.links(self.network)

    @cached_property
    def drives(self) -> dict[str, drives_of.Drive]:
        """Its drives by the site's names, as far as they are there."""
        disks = self._section("Drives", "disks", self.answers.disks)
        return drives_of.drives(disks, tuple(disk.path for disk in self.host.disks))

    @property
    def drive_names(self) -> tuple[str, ...]:
        """Every stable name of a drive of its own."""
        return tuple(self._section("Drives", "disks", self.answers.disks).names)

    @property
    def gpu_devices(self) -> tuple[answers.PciDevice, ...]:
        """Its GPUs on the bus."""
        return tuple(each for each in self.gpus.devices if each.kind.startswith(GPU_CLASSES))

    @property
    def switch_devices(self) -> tuple[answers.PciDevice, ...]:
        """Its NVSwitches on the bus; those of NVLink 5 do not stand there."""
        return tuple(each for each in self.gpus.devices if each.kind.startswith(SWITCH_CLASS))

    def link_of(self, nic: Nic) -> str | None:
        """The present name of one of the site's ports; nothing where it is not in the machine."""
        if nic.mac is not None:
            physical = self.network.ports
            return next((name for name, link in self.links.items() if link.mac == nic.mac and name in physical), None)
        return next((name for name, port in self.network.ports.items() if port.path == nic.path), None)

    def link_at(self, address: IPv4Address) -> str | None:
        """The present name of the link that bears an address."""
        return links_of.link_with(self.network, address)

    def _section(self, what: str, name: str, section: Section | None) -> Section:
        if section is None:
            raise NotSeen(what, self.answers.unseen.get(name, "it was not asked"))
        return section
