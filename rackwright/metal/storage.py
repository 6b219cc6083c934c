"""Which of a host's drives are claimed, wiped or refused, and in which order, by what the site says and what is there.

Each step leaves a state that the next run knows and goes on from: a power cut costs a re-run, never a drive.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rackwright.metal import state_drives
from rackwright.metal.drive_facts import Drive, DriveFacts
from rackwright.metal.drive_steps import Fault, Step, claim, create_group, deactivate, extend_group, stop, wipe
from rackwright.site.drive_marks import SIZE_TOLERANCE, is_ours
from rackwright.site.hosts import Disk
from rackwright.site.storage_classes import VOLUME_PURPOSES, volume_group


class Plan(NamedTuple):
    """Faults forbid every step; `state` is where the node's state lies, once there is such a file system."""

    faults: tuple[Fault, ...]
    steps: tuple[Step, ...]
    state: state_drives.State | None


def plan(disks: Sequence[Disk], facts: DriveFacts) -> Plan:
    """What is to be done to a host's drives now; after the steps, look again: a mirror shows then what is on it."""
    faults = [*_missing(disks, facts), *_other_than_said(disks, facts)]
    for purpose in VOLUME_PURPOSES:
        faults += _refused([disk for disk in disks if disk.purpose == purpose], disks, facts)
    state = state_drives.decide([disk for disk in disks if disk.purpose == "system"], facts)
    faults += state.faults
    if faults:
        return Plan(tuple(dict.fromkeys(faults)), (), state.state)
    steps = [step for group in VOLUME_PURPOSES for step in _claims(group, disks, facts)]
    return Plan((), (*steps, *state.steps), state.state)


def packages(disks: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the host needs to make and keep volumes; the same names on every supported system."""
    mirrored = sum(disk["purpose"] == "system" for disk in disks) > 1
    return ["lvm2", "nvme-cli", "xfsprogs", *(["mdadm"] if mirrored else [])]


def planned(disks: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The plan as plain data, out of plain data."""
    found = plan([Disk.model_validate(disk) for disk in disks], DriveFacts.model_validate(facts))
    return {
        "faults": [f"{fault.what}. {fault.cure}." for fault in found.faults],
        "steps": list(found.steps),
        "state": found.state._asdict() if found.state else {},
    }


def _missing(disks: Sequence[Disk], facts: DriveFacts) -> Iterator[Fault]:
    for disk in disks:
        if disk.path not in facts.drives:
            yield Fault(f"There is no drive {disk.path}", "Correct its path, or look for the drive (nvme list)")


def _other_than_said(disks: Sequence[Disk], facts: DriveFacts) -> Iterator[Fault]:
    """Size and serial number decide whether this is the drive that is meant."""
    for disk, drive in _found(disks, facts):
        if disk.purpose == "system" and drive.users:
            continue  # it is left alone
        gigabytes = drive.size / 1e9
        if abs(gigabytes - disk.size_gb) > disk.size_gb * SIZE_TOLERANCE:
            yield Fault(
                f"{disk.path} has {gigabytes:.1f} GB, and the site says {disk.size_gb}",
                "Correct size_gb, or see whether this is the drive that is meant",
            )
        if disk.wipe is not None and disk.wipe != drive.serial:
            yield Fault(
                f"{disk.path} ({drive.device}) has serial number {drive.serial}, and wipe says {disk.wipe}",
                "Look which drive is meant (ls -l /dev/disk/by-id), and write that one's",
            )


def _refused(own: Sequence[Disk], disks: Sequence[Disk], facts: DriveFacts) -> Iterator[Fault]:
    """Why drives of one purpose must be left alone."""
    if not own:
        return
    group = volume_group(own[0].purpose)
    if len(facts.group_uuids(group)) > 1:
        yield Fault(
            f"There are two volume groups {group}, one of them from another machine",
            "Take the drive out that came from elsewhere, or rename its group (vgrename UUID NAME)",
        )
    if group in facts.lacking:
        yield Fault(
            f"Volume group {group} lacks a drive that it once had",
            f"Put the drive back; if what was on it is given up: vgreduce --removemissing {group}",
        )
    for disk, drive in _found(own, facts):
        if not _is_done(disk, drive, facts) and not drive.is_blank and not _is_half_claimed(disk, drive, facts):
            yield from _not_wiped(disk, drive, disks, facts)


def _not_wiped(disk: Disk, drive: Drive, disks: Sequence[Disk], facts: DriveFacts) -> Iterator[Fault]:
    """Why a drive with something of somebody else's is not wiped."""
    if drive.users:
        yield Fault(
            f"{disk.path} ({drive.device}) is in use ({', '.join(drive.users)})",
            "Take it out of use (umount, /etc/fstab, swapoff), or choose another drive",
        )
    elif disk.wipe is None:
        yield Fault(
            f"{disk.path} ({drive.device}) has data on it ({drive.content})",
            f'See what it is; to have it wiped, write wipe: "{drive.serial}" at this drive',
        )
    else:
        named = frozenset(device for each, found in _found(disks, facts) if each.wipe for device in found.devices)
        for what, devices in facts.stacked(drive.devices):
            if devices - named:
                yield Fault(
                    f"{disk.path} is a part of {what}, which also lies on {', '.join(sorted(devices - named))}",
                    "Give wipe at every drive of it, or take this drive out of it first (vgreduce, mdadm --remove)",
                )


def _claims(purpose: str, disks: Sequence[Disk], facts: DriveFacts) -> Iterator[Step]:
    """From what is on the drives of one purpose to one volume group."""
    open_disks = [
        (disk, drive)
        for disk, drive in _found(disks, facts)
        if disk.purpose == purpose and not _is_done(disk, drive, facts)
    ]
    for disk, drive in open_disks:
        if not drive.is_blank and not _is_half_claimed(disk, drive, facts):
            yield from _wipes(disk, drive, facts)
        yield claim(disk.path, drive.serial)
    if open_disks:
        group = volume_group(open_disks[0][0].purpose)
        join = extend_group if facts.group_uuids(group) else create_group
        yield join(group, [disk.path for disk, _ in open_disks])


def _wipes(disk: Disk, drive: Drive, facts: DriveFacts) -> Iterator[Step]:
    for volume in facts.volumes:
        if volume.device in drive.devices and volume.group:
            yield deactivate(volume.group, volume.group_uuid)
    array = facts.array_of(drive.devices)
    if array:
        yield stop(array.device)
    yield wipe(disk.path, drive.serial, drive.content)


def _is_done(disk: Disk, drive: Drive, facts: DriveFacts) -> bool:
    return facts.group_of(drive) == volume_group(disk.purpose)


def _is_half_claimed(disk: Disk, drive: Drive, facts: DriveFacts) -> bool:
    """True of a physical volume with our mark that is in no group: nothing can be on it."""
    return (
        not facts.group_of(drive)
        and bool(drive.signatures)
        and all(
            each.device == drive.device and is_ours(disk.purpose, each.type, each.uuid, each.label)
            for each in drive.signatures
        )
    )


def _found(disks: Sequence[Disk], facts: DriveFacts) -> Iterator[tuple[Disk, Drive]]:
    return ((disk, facts.drives[disk.path]) for disk in disks if disk.path in facts.drives)
