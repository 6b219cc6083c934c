"""Drives that are given back by their serial numbers: what is ours on them goes, and nothing of anybody else's."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rackwright.metal.drive_facts import Array, Drive, DriveFacts
from rackwright.metal.drive_steps import Fault, Step, remove_group, stop, wipe
from rackwright.site.drive_marks import STATE_FOLDER, STATE_FOLDERS, is_ours
from rackwright.site.hosts import Disk
from rackwright.site.storage_classes import volume_group

PODS = "/var/lib/kubelet/"  # their mounts end with the cluster; LVM removes no volume that is still in use


class Return(NamedTuple):
    """Why nothing is given back, what is done, whether the node's state goes, and what stays, in words."""

    faults: tuple[Fault, ...]
    steps: tuple[Step, ...]
    state_goes: bool
    kept: tuple[str, ...]


def give_back(disks: Sequence[Disk], serials: Sequence[str], facts: DriveFacts) -> Return:
    """What becomes of a host's drives when some of them are given back."""
    found = [(disk, facts.drives[disk.path]) for disk in disks if disk.path in facts.drives]
    named = [(disk, drive) for disk, drive in found if drive.serial in serials and not drive.is_blank]
    devices = frozenset(drive.device for disk, drive in found if drive.serial in serials)
    faults = [fault for disk, drive in named for fault in _refused(disk, drive, devices, facts)]
    kept = tuple(f"{disk.path}: {drive.content}" for disk, drive in found if drive.device not in devices)
    if faults:
        return Return(tuple(dict.fromkeys(faults)), (), False, kept)
    groups = dict.fromkeys(group for _, drive in named if (group := facts.group_of(drive)))
    arrays = dict.fromkeys(array.device for _, drive in named if (array := facts.array_of(drive.devices)))
    steps = [
        *map(remove_group, groups),
        *map(stop, arrays),
        *(wipe(disk.path, drive.serial, drive.content) for disk, drive in named),
    ]
    return Return((), tuple(steps), any(disk.purpose == "system" for disk, _ in named), kept)


def returned(disks: Sequence[Mapping[str, Any]], serials: Sequence[str], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The same as plain data, out of plain data."""
    found = give_back([Disk.model_validate(disk) for disk in disks], serials, DriveFacts.model_validate(facts))
    return {
        "faults": [f"{fault.what}. {fault.cure}." for fault in found.faults],
        "steps": list(found.steps),
        "state_goes": found.state_goes,
        "kept": list(found.kept),
    }


def _refused(disk: Disk, drive: Drive, named: frozenset[str], facts: DriveFacts) -> Iterator[Fault]:
    group, array = facts.group_of(drive), facts.array_of(drive.devices)
    if not _is_ours(disk, drive, group):
        yield Fault(
            f"{disk.path} ({drive.device}) holds {drive.content}, which is not Rackwright's",
            "Leave it out; what is somebody else's is emptied by hand",
        )
        return
    users = [mount for mount in drive.mounts if not _is_of_state(disk, mount) and not mount.startswith(PODS)]
    if users:
        yield Fault(f"{disk.path} is in use ({', '.join(users)})", "Unmount it, and see who uses it (fuser -vm)")
    others = _group_devices(group, facts) | frozenset(_members(array))
    if others - named:
        yield Fault(
            f"What is on {disk.path} also lies on {', '.join(sorted(others - named))}",
            "Name the serial numbers of all drives that it lies on",
        )


def _is_ours(disk: Disk, drive: Drive, group: str) -> bool:
    if group:
        return group == volume_group(disk.purpose)
    return all(is_ours(disk.purpose, each.type, each.uuid, each.label) for each in drive.signatures)


def _is_of_state(disk: Disk, mount: str) -> bool:
    return disk.purpose == "system" and mount in (STATE_FOLDER, *STATE_FOLDERS)


def _group_devices(group: str, facts: DriveFacts) -> frozenset[str]:
    return frozenset(volume.device for volume in facts.volumes if group and volume.group == group)


def _members(array: Array | None) -> tuple[str, ...]:
    return array.members if array else ()
