"""A host's block of the site file as a guest's hardware, and what of it a guest cannot have."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rackwright.guests import places
from rackwright.guests.cabling import plug
from rackwright.site.hosts import Disk, Host, Nic
from rackwright.site.operating_system import OperatingSystem
from rackwright.site.rules.disks import SERIAL

LONGEST_SERIAL = 20
BEFORE_NAMING = ('SUBSYSTEM!="net", GOTO="end"', 'IMPORT{builtin}="path_id"')
NAMING = (
    'ACTION=="remove", GOTO="end"',
    'IMPORT{builtin}="net_setup_link"',
    'NAME=="", ENV{ID_NET_NAME}!="", NAME="$env{ID_NET_NAME}"',
    'LABEL="end"',
)
BOOTED = OperatingSystem(name="debian", release="13")


@dataclass(frozen=True)
class Drive:
    """An NVMe drive: by which name the site knows it, and what it says of itself."""

    path: str
    serial: str
    gigabytes: int
    holds_system: bool = False

    @property
    def file(self) -> str:
        """The file behind it; it takes only what is written to it."""
        return f"{self.serial}.qcow2"


@dataclass(frozen=True)
class Size:
    """What a guest gets of the machine; two emulated processors are no quicker than one, and are emulated in turn."""

    memory_mib: int = 2048
    processors: int = 1


def mac(site: str, host: Host, nic: Nic) -> str:
    """A port's address: the site's, or one that is the same each time."""
    digest = hashlib.sha256(f"{site}/{host.name}/{nic.name}".encode()).hexdigest()
    return nic.mac or ":".join(("52", "54", "00", digest[:2], digest[2:4], digest[4:6]))


def drives(host: Host) -> tuple[Drive, ...]:
    """The host's drives; a name without a serial number gets one that is the same each time."""
    system = next((disk for disk in host.disks if disk.purpose == "system"), None)
    return tuple(_drive(disk, holds_system=disk == system) for disk in host.disks)  # others for the system are empty


def arguments(
    site: str, host: Host, size: Size, sockets: Mapping[str, int], folder: Path, system: Path, accelerator: str
) -> list[str]:
    """QEMU's arguments but for what it boots; `folder` holds the drives' files, `system` is the root file system's."""
    # Processors that are emulated side by side crash while the kernel patches itself (an int3 that is no longer there).
    cpu = "host" if accelerator == "kvm" else "Nehalem"  # what newer ones have more is slower to emulate
    free = places.free()
    return [
        "-no-user-config", "-nodefaults", "-display", "none", "-machine", "q35,sata=off", "-name", host.name,
        "-accel", accelerator + (",thread=single,tb-size=512" if accelerator == "tcg" else ""), "-cpu", cpu,
        "-smp", str(size.processors), "-m", str(size.memory_mib), "-device", f"virtio-rng-pci,{next(free)}",
        *_ports(site, host, sockets, free),
        *_drives(host, folder, system, free),
    ]  # fmt: skip


def device_rules(site: str, host: Host) -> dict[str, str]:
    """Rules for udev in the guest by file: devices get the names that the site knows them by."""
    rules = {"61-drives.rules": _lines(_drive_rules(host))}
    if found := list(
        _place_rules(site, host)
    ):  # in the place of the system's own file, which would find the true place
        rules["80-net-setup-link.rules"] = _lines((*BEFORE_NAMING, *found, *NAMING))
    return rules


def cannot_have(host: Host, wished: OperatingSystem, size: Size) -> tuple[str, ...]:
    """What the site says of a host and a guest is without, a sentence each."""
    return tuple(_cannot_have(host, wished, size))


def _cannot_have(host: Host, wished: OperatingSystem, size: Size) -> Iterator[str]:
    if host.gpus:
        gpus = f"{host.gpus.count} {host.gpus.product} ({host.gpus.link})"
        yield f"No GPU: {gpus} and their driver's module are not there."
    if any(nic.speed_gbps >= 100 for nic in host.nics):
        yield "No RDMA: ports are virtio, without RoCE, PFC and ECN; they say the site's speed and do not have it."
    if wished != BOOTED:
        yield f"Debian 13 was booted, and the site says {wished.name} {wished.release}."
    has = f"{size.memory_mib / 1024:g} GiB of memory and {size.processors} of the processors"
    yield f"It has {has}, not {host.memory_gib} GiB and {host.cores}; drives are as large as the site says, but thin."
    for nic in host.nics:
        if nic.path and places.parsed(nic.path) is None:
            yield f"{nic.name} is not at {nic.path} on the bus; udev says so all the same."


def _ports(site: str, host: Host, sockets: Mapping[str, int], free: Iterator[places.Place]) -> Iterator[str]:
    wanted = {nic.name: places.parsed(nic.path) for nic in host.nics if nic.path}
    yield from places.bridges((bus.number for bus in wanted.values() if bus), free)
    functions = {(bus.number, bus.function) for bus in wanted.values() if bus}
    for number in sorted(
        {number for number, _ in functions} - {number for number, function in functions if function == 0}
    ):
        place = places.Place(places.bus_id(number), "00.0")  # without a device at function 0 nobody looks for others
        yield from ("-device", f"virtio-rng-pci,{place}")
    for nic in host.nics:
        bus = wanted.get(nic.name)
        place = places.Place(places.bus_id(bus.number), f"00.{bus.function}") if bus else next(free)
        yield from ("-netdev", f"socket,id={nic.name},connect=127.0.0.1:{sockets[plug(host, nic.name)]}")
        own = f"netdev={nic.name},mac={mac(site, host, nic)},speed={nic.speed_gbps * 1000},duplex=full,romfile="
        yield from ("-device", f"virtio-net-pci,{own},{place}")


def _drives(host: Host, folder: Path, system: Path, free: Iterator[places.Place]) -> Iterator[str]:
    found = drives(host)
    if not any(drive.holds_system for drive in found):
        yield from ("-drive", f"file={_quoted(system)},if=none,id=system,cache=unsafe,discard=unmap,werror=report")
        yield from ("-device", f"virtio-blk-pci,drive=system,{next(free)}")
    for number, (drive, place) in enumerate(zip(found, places.shared(free, len(found)), strict=True)):
        file = system if drive.holds_system else folder / drive.file
        options = "if=none,cache=unsafe,discard=unmap,detect-zeroes=unmap"
        yield from ("-drive", f"file={_quoted(file)},id=drive{number},{options}")
        yield from ("-device", f"nvme,drive=drive{number},serial={drive.serial},{place}")


def _drive(disk: Disk, *, holds_system: bool) -> Drive:
    match = SERIAL.search(disk.path)
    made = hashlib.sha256(disk.path.encode()).hexdigest()[:LONGEST_SERIAL].upper()
    serial = disk.wipe or (match[1] if match else made)
    return Drive(disk.path, serial if len(serial) <= LONGEST_SERIAL else made, disk.size_gb, holds_system)


def _drive_rules(host: Host) -> Iterator[str]:
    """Links below /dev/disk/by-id: QEMU's drives have their serial number, but no maker's name."""
    for drive in drives(host):
        link = drive.path.removeprefix("/dev/")
        of = f'KERNEL=="nvme*", SUBSYSTEM=="block", ATTRS{{serial}}=="{drive.serial}"'
        yield f'{of}, ENV{{DEVTYPE}}=="disk", SYMLINK+="{link}"'
        yield f'{of}, ENV{{DEVTYPE}}=="partition", SYMLINK+="{link}-part%n"'


def _place_rules(site: str, host: Host) -> Iterator[str]:
    """ID_PATH of ports whose place on the bus a guest cannot have."""
    for nic in host.nics:
        if nic.path and places.parsed(nic.path) is None:
            yield f'ATTR{{address}}=="{mac(site, host, nic)}", ENV{{ID_PATH}}="{nic.path}"'


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _quoted(path: Path) -> str:
    """A path as a value of QEMU's options, where a comma ends a value unless it stands twice."""
    return str(path).replace(",", ",,")
