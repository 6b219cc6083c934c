"""The acts that claim drives. Each that destroys something looks again at the very drive first."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .commands import Failed, run
from .facts import drives, is_unfinished, signatures

NAME = "rackwright"


def act(step: dict[str, Any]) -> None:
    """Do one step; Failed where it cannot be done, or the drive is not as it was when the step was planned."""
    ACTS[step["act"]](step)
    run("udevadm", "settle")
    for path in [*step.get("paths", []), *(step[key] for key in ("path", "device") if key in step)]:
        _flush(path)


def _deactivate(step: dict[str, Any]) -> None:
    run("vgchange", "--activate", "n", "--select", f"vg_uuid={step['group_uuid']}")


def _remove_group(step: dict[str, Any]) -> None:
    run("vgremove", "--force", "--yes", step["group"])


def _stop(step: dict[str, Any]) -> None:
    run("mdadm", "--stop", step["array"])


def _wipe(step: dict[str, Any]) -> None:
    found = _drive_of(step)
    _let_nobody_use(found["device"])
    parts = [block["path"] for block in found["blocks"] if block["type"] == "part"]
    for device in [*reversed(parts), found["device"]]:  # the drive last: until then it is known as not ours
        run("wipefs", "--all", device)


def _claim(step: dict[str, Any]) -> None:
    found = _drive_of(step)
    others = [each for each in found["signatures"] if each["type"] != "LVM2_member" or each["uuid"] != step["uuid"]]
    _refuse(others, step["path"])
    _let_nobody_use(found["device"])
    run("wipefs", "--all", found["device"])
    run("pvcreate", "--yes", "--uuid", step["uuid"], "--norestorefile", found["device"])


def _create_group(step: dict[str, Any]) -> None:
    run("vgcreate", "--yes", step["group"], *map(os.path.realpath, step["paths"]))


def _extend_group(step: dict[str, Any]) -> None:
    run("vgextend", "--yes", step["group"], *map(os.path.realpath, step["paths"]))


def _create_mirror(step: dict[str, Any]) -> None:
    devices = [os.path.realpath(path) for path in step["paths"]]
    for device in devices:
        _refuse_but_unfinished(device)
    run(
        *("mdadm", "--create", f"/dev/md/{NAME}", "--run", "--homehost=any", f"--name={NAME}", "--metadata=1.2"),
        *("--level=1", f"--raid-devices={len(devices)}", "--bitmap=internal", *devices),
    )
    # Drives of an earlier mirror show its file system again, which nobody could see on them before.
    run("udevadm", "settle")
    run("wipefs", "--all", f"/dev/md/{NAME}")


def _assemble_mirror(step: dict[str, Any]) -> None:
    run("mdadm", "--assemble", "--run", f"/dev/md/{NAME}", *map(os.path.realpath, step["paths"]))


def _join_mirror(step: dict[str, Any]) -> None:
    device = os.path.realpath(step["path"])
    others = [each for each in signatures([device]) if each["type"] != "linux_raid_member"]
    _refuse(others, step["path"])
    _let_nobody_use(device)
    run("mdadm", step["array"], "--add", device)


def _make_file_system(step: dict[str, Any]) -> None:
    device = os.path.realpath(step["device"])
    _refuse_but_unfinished(device)
    run("mkfs.xfs", "-q", "-f", "-L", NAME, device)
    run("udevadm", "trigger", "--action=change", "--settle", device)  # its UUID is a name to mount it by


ACTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "deactivate": _deactivate,
    "remove_group": _remove_group,
    "stop": _stop,
    "wipe": _wipe,
    "claim": _claim,
    "create_group": _create_group,
    "extend_group": _extend_group,
    "create_mirror": _create_mirror,
    "assemble_mirror": _assemble_mirror,
    "join_mirror": _join_mirror,
    "make_file_system": _make_file_system,
}


def _drive_of(step: dict[str, Any]) -> dict[str, Any]:
    """The drive as it is now, if it still has the serial number of the plan."""
    found = drives([step["path"]])[step["path"]]
    if found["serial"] != step["serial"]:
        raise Failed(f"{step['path']} has serial number {found['serial']} now, and {step['serial']} is meant")
    return found


def _refuse_but_unfinished(device: str) -> None:
    """Refuse a device with anything on it, but for a file system of ours that mkfs did not come to the end of."""
    if not is_unfinished(device):
        _refuse(signatures([device]), device)
    _let_nobody_use(device)


def _refuse(found: list[dict[str, str]], path: str) -> None:
    if found:
        raise Failed(f"{path} has {', '.join(each['type'] for each in found)} on it now; start again to see why")


def _flush(path: str) -> None:
    """Have a drive keep what is in its cache: LVM does not, and the next step relies on this one over a power cut."""
    device = os.open(path, os.O_RDONLY)
    try:
        os.fsync(device)
    finally:
        os.close(device)


def _let_nobody_use(device: str) -> None:
    """Refuse a device that is mounted, or held by LVM, an array, encryption or anything else of the kernel's."""
    try:
        os.close(os.open(device, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        raise Failed(f"{device} is in use ({error.strerror})") from None
