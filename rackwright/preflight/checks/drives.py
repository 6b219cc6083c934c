"""Drives: the right ones, empty, unused, and quick to keep what is written."""

from collections.abc import Iterator

from rackwright.preflight.finding import Fault, forbids, warns
from rackwright.preflight.machine import Machine
from rackwright.preflight.parsers.drives import Drive
from rackwright.site.drive_marks import SIZE_TOLERANCE, is_ours
from rackwright.site.hosts import Disk, Host
from rackwright.site.reading.nearest import nearest
from rackwright.site.rules.disks import SERIAL
from rackwright.site.storage_classes import volume_group

FLUSH_MS = 10.0


def drives_are_there(machine: Machine, host: Host) -> Iterator[Fault]:
    """Each of the site's drives is in the machine by its stable name."""
    for disk in host.disks:
        if disk.path not in machine.drives:
            hint = nearest(disk.path, machine.drive_names) if machine.drive_names else "it shows no drive at all"
            yield forbids(f"has no drive {disk.path}", f"Correct path ({hint}), or look for the drive (nvme list)")


def drives_have_their_size(machine: Machine, host: Host) -> Iterator[Fault]:
    """A drive is as large as the site says, within 5 %."""
    for disk, drive in _found(machine, host):
        found = drive.size / 1e9
        if abs(found - disk.size_gb) > disk.size_gb * SIZE_TOLERANCE:
            yield forbids(
                f"has {found:.0f} GB at {disk.path}, and the site says {disk.size_gb}",
                "Correct size_gb, or see whether this is the drive that is meant",
            )


def drives_are_those_of_their_names(machine: Machine, host: Host) -> Iterator[Fault]:
    """The serial number that a drive says is the one in its name, and the one that allows to wipe it."""
    for disk, drive in _found(machine, host):
        named = SERIAL.search(disk.path)
        for wished, where in ((named[1] if named else None, "its name says"), (disk.wipe, "wipe says")):
            if wished and drive.serial and wished != drive.serial:
                yield forbids(
                    f"has serial number {drive.serial} at {disk.path} ({drive.device}), and {where} {wished}",
                    "Look which drive is meant (ls -l /dev/disk/by-id), and write that one",
                )


def drives_are_empty(machine: Machine, host: Host) -> Iterator[Fault]:
    """Nothing of somebody else's is on a drive, unless `wipe` gives its serial number or the system is on it."""
    for disk, drive in _found(machine, host):
        if not drive.signatures or _is_ours(disk, drive) or disk.wipe is not None:
            continue
        group = f", volume group {drive.group}" if drive.group else ""
        content = f"has data at {disk.path} ({', '.join(drive.signatures)}{group})"
        if disk.purpose != "system":
            serial = drive.serial or "its serial number"
            yield forbids(content, f'See what it is; to have it wiped, write wipe: "{serial}" at this drive')
        elif not drive.mounts:
            yield forbids(
                f"{content}, its purpose is system, and the running system does not use it",
                "Write the purpose that the drive shall have, or see what it is and empty it (wipefs --all)",
            )


def drives_are_unused(machine: Machine, host: Host) -> Iterator[Fault]:
    """No file system or swap of a drive is in use; naming its serial number does not help then."""
    for disk, drive in _found(machine, host):
        if disk.purpose != "system" and drive.mounts and not _is_ours(disk, drive):
            yield forbids(
                f"uses {disk.path} ({drive.device}) at {', '.join(drive.mounts)}",
                "Unmount it and take it out of /etc/fstab, or choose another drive",
            )


def writes_are_kept_in_time(machine: Machine) -> Iterator[Fault]:
    """Where etcd will lie, 99 of 100 small writes are kept (fdatasync) within 10 ms."""
    if machine.answers.flush is None and "flush" not in machine.answers.unseen:
        return  # a host without etcd is not asked
    found = machine.flush
    if found.p99_ms is None:
        yield warns(
            f"did not let the time of kept writes be measured in {found.folder} ({found.error})", "Try fio by hand"
        )
    elif found.p99_ms > FLUSH_MS:
        yield forbids(
            f"keeps a small write in {found.p99_ms:.1f} ms at P99 in {found.folder} ({found.tool}), and etcd needs "
            f"{FLUSH_MS:g} ms",
            "Put the system on an NVMe drive with power-loss protection, and take other load off it",
        )


def _found(machine: Machine, host: Host) -> Iterator[tuple[Disk, Drive]]:
    return ((disk, machine.drives[disk.path]) for disk in host.disks if disk.path in machine.drives)


def _is_ours(disk: Disk, drive: Drive) -> bool:
    """True where an earlier run has made the drive what the site says, or was cut off while it did."""
    if drive.group:
        return disk.purpose != "system" and drive.group == volume_group(disk.purpose)
    return bool(drive.marks) and all(is_ours(disk.purpose, *mark) for mark in drive.marks)
