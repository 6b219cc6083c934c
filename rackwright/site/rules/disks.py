"""Drives: which may be wiped, and which hold the system."""

import re
from collections.abc import Iterator

from rackwright.site.hosts import Disk, Host
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.unknown import is_known

SERIAL = re.compile(r"/nvme-(?!eui\.|uuid\.|nvme\.)[^/]*?_([A-Za-z0-9-]+?)(?:_[0-9]{1,3})?$")


def system_drives_are_kept(host: Host, place: Place) -> Iterator[Broken]:
    """The drive that the system is on is never wiped."""
    for index, disk in _disks(host):
        if disk.purpose == "system" and disk.wipe is not None:
            yield Broken(
                (*place, "disks", index, "wipe"),
                f"is {disk.wipe}, and the drive's purpose is system",
                "take wipe out, or write the purpose that the drive shall have",
            )


def wipes_name_their_drive(host: Host, place: Place) -> Iterator[Broken]:
    """What allows a drive to be wiped is its own serial number, where its name shows it."""
    for index, disk in _disks(host):
        if disk.wipe is None:
            continue
        serial = SERIAL.search(str(disk.path))
        if serial and disk.wipe != serial[1]:
            yield Broken(
                (*place, "disks", index, "wipe"),
                f"is {disk.wipe}, and the serial number in path is {serial[1]}",
                "look which drive is meant, and write its own serial number",
            )


def _disks(host: Host) -> Iterator[tuple[int, Disk]]:
    return ((index, disk) for index, disk in enumerate(host.disks) if is_known(disk))
