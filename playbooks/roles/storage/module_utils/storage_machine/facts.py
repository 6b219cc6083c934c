"""What is on the drives of this machine; nothing here changes anything."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from .commands import FOLDERS, run, table

COLUMNS = "NAME,PATH,TYPE,SIZE,SERIAL,MOUNTPOINTS"  # without NAME, what is on a drive would not be shown on it
PROBED = ("disk", "part", "raid")  # volumes of pods are not looked into
UNFINISHED = 126  # where xfs has the byte that mkfs sets first and clears last (sb_inprogress)


def facts(paths: list[str], folders: list[str]) -> dict[str, Any]:
    """Drives by the names that are asked for, LVM's devices and groups, arrays, and folders that hold something."""
    run("udevadm", "settle")
    volumes, lacking = _volumes()
    return {
        "drives": drives([path for path in paths if os.path.exists(path)]),  # noqa: PTH110 - texts
        "volumes": volumes,
        "lacking": lacking,
        "arrays": [_array(folder) for folder in sorted(Path("/sys/block").glob("md*"))],
        "full_folders": [folder for folder in folders if not os.path.ismount(folder) and _holds_something(folder)],
        "schedulers": {path.parent.parent.name: _scheduler(path) for path in _schedulers()},
    }


def drives(paths: list[str]) -> dict[str, dict[str, Any]]:
    """Drives by name: which each is, what wipefs finds on it and its partitions, and what the kernel shows on top."""
    devices = {path: os.path.realpath(path) for path in paths}
    if not devices:
        return {}
    listed = table("lsblk", "-J", "-b", "-o", COLUMNS, *devices.values())["blockdevices"]
    trees = {tree["path"]: tree for tree in listed}
    flat = {device: list({each["path"]: each for each in _flat(tree)}.values()) for device, tree in trees.items()}
    probed = {each["path"] for blocks in flat.values() for each in blocks if each["type"].startswith(PROBED)}
    found = signatures(sorted(probed))
    return {
        path: {
            "device": device,
            "size": int(trees[device]["size"]),
            "serial": (trees[device]["serial"] or "").strip(),
            "signatures": [each for each in found if each["device"] in _own(flat[device])],
            "blocks": [_with_content(block, found) for block in flat[device]],
        }
        for path, device in devices.items()
    }


def signatures(devices: list[str]) -> list[dict[str, str]]:
    """What wipefs finds on devices, but not on their partitions."""
    found = table("wipefs", "--no-act", "--json", *devices).get("signatures", [])
    return [
        {
            "device": f"/dev/{each['device'].split('/')[-1]}",
            "type": each["type"],
            "uuid": each.get("uuid") or "",
            "label": each.get("label") or "",
        }
        for each in found
    ]


def is_unfinished(device: str) -> bool:
    """True of an xfs that mkfs began and did not end."""
    with Path(device).open("rb") as file:
        head = file.read(512)
    return head[:4] == b"XFSB" and head[UNFINISHED] != 0


def _flat(block: dict[str, Any]) -> list[dict[str, Any]]:
    plain = {
        "path": block["path"],
        "type": block["type"],
        "mounts": [mount for mount in block["mountpoints"] if mount],
    }
    return [plain, *(each for child in block.get("children", []) for each in _flat(child))]


def _own(blocks: list[dict[str, Any]]) -> set[str]:
    return {block["path"] for block in blocks if block["type"] in ("disk", "part")}


def _with_content(block: dict[str, Any], found: list[dict[str, str]]) -> dict[str, Any]:
    """What is on it, as it says itself: udev's own notes come later than what mkfs has done."""
    sign = next((each for each in found if each["device"] == block["path"]), {})
    kind = sign.get("type", "")
    return {
        **block,
        "fstype": kind,
        "label": sign.get("label", ""),
        "uuid": sign.get("uuid", ""),
        "unfinished": kind == "xfs" and is_unfinished(block["path"]),
    }


def _volumes() -> tuple[list[dict[str, str]], list[str]]:
    """Physical volumes and groups that lack a device; none where LVM is not installed, since then none is in use."""
    if shutil.which("pvs", path=FOLDERS) is None:
        return [], []
    options = ("--readonly", "--reportformat", "json", "-o")
    volumes = table("pvs", *options, "pv_name,vg_name,vg_uuid,pv_missing")["report"][0]["pv"]
    lacking = {each["vg_name"] for each in volumes if each["pv_missing"]}
    here = [each for each in volumes if not each["pv_missing"]]
    return [
        {"device": os.path.realpath(each["pv_name"]), "group": each["vg_name"], "group_uuid": each["vg_uuid"]}
        for each in here
    ], sorted(lacking)


def _array(folder: Path) -> dict[str, Any]:
    members = sorted(f"/dev/{each.name}" for each in (folder / "slaves").iterdir())
    state = (folder / "md" / "array_state").read_text().strip()
    return {"device": f"/dev/{folder.name}", "members": members, "active": state not in ("clear", "inactive")}


def _holds_something(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(True for _ in entries)
    except FileNotFoundError:
        return False


def _schedulers() -> list[Path]:
    return sorted(Path("/sys/block").glob("nvme*n*/queue/scheduler"))


def _scheduler(path: Path) -> str:
    """The one in brackets; a kernel without any shows `none` alone."""
    shown = path.read_text().split()
    return next((word.strip("[]") for word in shown if word.startswith("[")), " ".join(shown))
