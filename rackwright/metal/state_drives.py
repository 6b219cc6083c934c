"""Drives with the purpose `system`: the one that the operating system is on, which is left alone, and empty ones.

Empty ones hold a node's state: images, pods' own files, etcd. One is a file system, several are a mirror: what etcd
keeps on a single control host exists nowhere else.
"""

from collections.abc import Sequence
from typing import NamedTuple

from rackwright.metal.drive_facts import Array, Block, Drive, DriveFacts
from rackwright.metal.drive_steps import (
    Fault,
    Step,
    assemble_mirror,
    create_mirror,
    join_mirror,
    make_file_system,
    stop,
)
from rackwright.site.drive_marks import STATE, is_ours
from rackwright.site.hosts import Disk


class State(NamedTuple):
    """The file system of a node's state, and the device that it is on now."""

    device: str
    uuid: str


class Decided(NamedTuple):
    """Why nothing is done, what is done, and where the state lies already."""

    faults: tuple[Fault, ...] = ()
    steps: tuple[Step, ...] = ()
    state: State | None = None


def decide(disks: Sequence[Disk], facts: DriveFacts) -> Decided:
    """What becomes of drives with the purpose `system`."""
    found = [(disk.path, facts.drives[disk.path]) for disk in disks if disk.path in facts.drives]
    free = [(path, drive) for path, drive in found if _is_ours(drive) or not drive.users]
    foreign = [(path, drive) for path, drive in free if not _is_ours(drive) and not drive.is_blank]
    if foreign:
        return Decided(faults=tuple(_not_the_systems(path, drive) for path, drive in foreign))
    if not free:
        return Decided()
    mirrored = [(path, drive) for path, drive in free if _kind(drive) == "linux_raid_member"]
    finished = [(path, drive) for path, drive in free if _file_system(drive)]
    if mirrored and not any(_kind(drive) == "xfs" for _, drive in free):
        decided = _mirror(mirrored, [path for path, drive in free if drive.is_blank], facts)
    elif mirrored or len(finished) > 1 or (finished and len(free) > 1):
        return Decided(faults=(_two_states([path for path, _ in free]),))
    elif finished:
        decided = Decided(state=_file_system(finished[0][1]))
    else:
        decided = _anew([path for path, _ in free])
    return _beside_folders(decided, facts)


def _anew(paths: Sequence[str]) -> Decided:
    if len(paths) == 1:
        return Decided(steps=(make_file_system(paths[0]),))
    return Decided(steps=(create_mirror(paths), make_file_system(f"/dev/md/{STATE}")))


def _mirror(members: Sequence[tuple[str, Drive]], blank: Sequence[str], facts: DriveFacts) -> Decided:
    """A mirror of ours, whole or not: it is started, completed, and given its file system."""
    identities = {drive.signatures[0].uuid for _, drive in members}
    if len(identities) > 1:
        return Decided(faults=(_two_states([path for path, _ in members]),))
    array = next((found for _, drive in members if (found := facts.array_of(drive.devices))), None)
    if array is None or not array.active:
        stopped = (stop(array.device),) if array else ()
        return Decided(steps=(*stopped, assemble_mirror([path for path, _ in members])))
    outside = [path for path, drive in members if drive.device not in array.members]
    steps = [join_mirror(array.device, path) for path in (*outside, *blank)]
    block = _block_of(array, members)
    if block and block.fstype and block.label != STATE:
        return Decided(
            faults=(Fault(f"The mirror {array.device} holds {block.fstype}", "See what it is (blkid, mount)"),)
        )
    if block is None or not block.fstype or block.unfinished:
        return Decided(steps=(*steps, make_file_system(array.device)))
    return Decided(steps=tuple(steps), state=State(array.device, block.uuid))


def _block_of(array: Array, members: Sequence[tuple[str, Drive]]) -> Block | None:
    return next((block for _, drive in members for block in drive.blocks if block.path == array.device), None)


def _beside_folders(decided: Decided, facts: DriveFacts) -> Decided:
    """Nothing is mounted over what a cluster keeps on the system's own drive: it would start anew, without its data."""
    if not facts.full_folders:
        return decided
    places = ", ".join(facts.full_folders)
    return Decided(
        faults=(
            Fault(
                f"A drive with purpose system is to hold the node's state, and {places} holds some already",
                "Take that drive out of the site file, or take the host back first (playbooks/reset.yml)",
            ),
        ),
        state=decided.state,
    )


def _is_ours(drive: Drive) -> bool:
    return bool(drive.signatures) and all(
        each.device == drive.device and is_ours("system", each.type, each.uuid, each.label) for each in drive.signatures
    )


def _kind(drive: Drive) -> str:
    return drive.signatures[0].type if drive.signatures else ""


def _file_system(drive: Drive) -> State | None:
    """The finished file system that is on the drive itself."""
    if _kind(drive) != "xfs":
        return None
    block = next((block for block in drive.blocks if block.path == drive.device), None)
    return State(block.path, block.uuid) if block and block.uuid and not block.unfinished else None


def _not_the_systems(path: str, drive: Drive) -> Fault:
    return Fault(
        f"{path} ({drive.device}) has data on it ({drive.content}), and the running system does not use it",
        "Write the purpose that the drive shall have, or see what it is and empty it by hand (wipefs --all)",
    )


def _two_states(paths: Sequence[str]) -> Fault:
    return Fault(
        f"{', '.join(paths)} do not belong together: a node's state is on one, or one came from another machine",
        "Name the drives that belong together, or empty by hand (wipefs --all) those that shall join",
    )
