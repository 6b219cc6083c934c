"""lsblk, wipefs and pvs: drives, and what is on them."""

from collections.abc import Iterator
from typing import NamedTuple

from rackwright.preflight.answers import Disks, Said
from rackwright.preflight.parsers.tables import Row, table

DRIVES = "Drives"


class Block(Row):
    """A block device with those on it."""

    name: str
    path: str = ""
    type: str = ""
    size: int | None = None
    fstype: str | None = None
    pttype: str | None = None
    serial: str | None = None
    model: str | None = None
    mountpoints: tuple[str | None, ...] = ()
    children: tuple["Block", ...] = ()

    def all(self) -> Iterator["Block"]:
        """Itself and what is on it."""
        yield self
        for child in self.children:
            yield from child.all()


class Listed(Row):
    """What lsblk prints."""

    blockdevices: tuple[Block, ...] = ()


class Signature(Row):
    """A signature at a place on a drive."""

    type: str = ""
    uuid: str | None = None
    label: str | None = None


class Signatures(Row):
    """What wipefs prints."""

    signatures: tuple[Signature, ...] = ()


class Group(Row):
    """A physical volume."""

    pv_name: str = ""
    vg_name: str = ""


class Report(Row):
    """One report of LVM's."""

    pv: tuple[Group, ...] = ()


class Reports(Row):
    """What pvs prints."""

    report: tuple[Report, ...] = ()


class Mark(NamedTuple):
    """A signature on a whole drive: its kind, identity and label."""

    kind: str
    identity: str
    label: str


class Drive(NamedTuple):
    """A drive: where it is now, bytes, serial, what is on it, where it is mounted, its volume group, its own marks."""

    device: str
    size: int
    serial: str
    signatures: tuple[str, ...]
    mounts: tuple[str, ...]
    group: str
    marks: tuple[Mark, ...] = ()


def drives(disks: Disks, asked: tuple[str, ...]) -> dict[str, Drive]:
    """Drives by the stable names that were asked for; those that are not there are not in it."""
    listed: Listed = table(DRIVES, "lsblk", disks.block_devices, Listed)
    blocks = {block.path: block for block in listed.blockdevices}
    groups = _groups(disks.volume_groups)
    found = {path: blocks[disks.names[path]] for path in asked if disks.names.get(path) in blocks}
    return {path: _drive(block, disks.signatures.get(path), groups) for path, block in found.items()}


def _drive(block: Block, wipefs: Said | None, groups: dict[str, str]) -> Drive:
    kinds = [kind for each in (block, *block.children) for kind in (each.fstype, each.pttype) if kind]
    marks = _marks(wipefs)
    return Drive(
        device=block.path,
        size=block.size or 0,
        serial=(block.serial or "").strip(),
        signatures=tuple(dict.fromkeys([*kinds, *(mark.kind for mark in marks)])),
        mounts=tuple(mount for each in block.all() for mount in each.mountpoints if mount),
        group=groups.get(block.path, ""),
        marks=marks,
    )


def _marks(wipefs: Said | None) -> tuple[Mark, ...]:
    if wipefs is None or wipefs.code or not wipefs.out.strip():
        return ()
    shown: Signatures = table("Signatures", "wipefs", wipefs, Signatures)
    return tuple(Mark(each.type, each.uuid or "", each.label or "") for each in shown.signatures if each.type)


def _groups(said: Said) -> dict[str, str]:
    """Volume groups by device; none where LVM is not installed, since then none is in use."""
    if said.code:
        return {}
    reports: Reports = table("Volume groups", "pvs", said, Reports)
    return {volume.pv_name: volume.vg_name for report in reports.report for volume in report.pv}
