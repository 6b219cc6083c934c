"""Every way in which a machine is broken here: the smallest change of one in order, and what is wanted of it."""

import json
from dataclasses import dataclass
from typing import Any

from fleet import Answers, Change

from rackwright.preflight import Weight

F, C, W, U = Weight.FORBIDS, Weight.CHANGES, Weight.WARNS, Weight.UNSEEN
KERNEL = "6.8.0-85-generic"
MODELS_DISK = "/dev/disk/by-id/nvme-SAMSUNG_MZQL27T6HBLA_S6CKNT0W000101"


@dataclass(frozen=True)
class Case:
    """A change of a host's answers (or of its site), and the one finding that is wanted of it."""

    host: str
    check: str
    weight: Weight
    change: Change
    words: tuple[str, ...]
    cure: str = ""
    site: Any = None
    phase: Any = None


def put(*path: str | int, to: Any) -> Change:
    """Write a value somewhere in the answers."""

    def change(answers: Answers) -> None:
        place: Any = answers
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = to

    return change


def swap(*path: str | int, old: str, new: str) -> Change:
    """Replace words somewhere in the answers."""

    def change(answers: Answers) -> None:
        place: Any = answers
        for step in path[:-1]:
            place = place[step]
        assert old in place[path[-1]], f"{old} is not in {path}"
        place[path[-1]] = place[path[-1]].replace(old, new)

    return change


def add(*path: str | int, item: Any) -> Change:
    """Append to a list or a text somewhere in the answers."""

    def change(answers: Answers) -> None:
        place: Any = answers
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] += [item] if isinstance(place[path[-1]], list) else item

    return change


def both(*changes: Change) -> Change:
    """Several changes."""
    return lambda answers: [change(answers) for change in changes]


def link(name: str, **fields: Any) -> Change:
    """Change a link in what `ip -j link` prints."""

    def change(answers: Answers) -> None:
        said = answers["network"]["links"]
        rows = json.loads(said["out"])
        next(row for row in rows if row["ifname"] == name).update(fields)
        said["out"] = json.dumps(rows)

    return change


def drive(device: str, **fields: Any) -> Change:
    """Change a drive in what lsblk prints."""

    def change(answers: Answers) -> None:
        said = answers["disks"]["block_devices"]
        listed = json.loads(said["out"])
        next(row for row in listed["blockdevices"] if row["path"] == device).update(fields)
        said["out"] = json.dumps(listed)

    return change


def without_package(name: str) -> Change:
    """Take a package out of what apt offers and has."""

    def change(answers: Answers) -> None:
        said = answers["packages"]["offered"]
        lines, skipped = [], False
        for line in said["out"].splitlines(keepends=True):
            skipped = line.startswith(f"{name}:") if not line.startswith(" ") else skipped
            lines += [] if skipped else [line]
        said["out"] = "".join(lines)

    return change


def silent(name: str, network: str, size: int, out: str) -> Change:
    """Let a ping to a peer at one size get no answer."""

    def change(answers: Answers) -> None:
        for ping in answers["paths"]["pings"]:
            if (ping["name"], ping["network"], ping["bytes"]) == (name, network, size):
                ping |= {"code": 1, "out": out, "error": ""}

    return change


def slow(name: str, ms: str) -> Change:
    """Let a peer's answers take longer."""

    def change(answers: Answers) -> None:
        for ping in answers["paths"]["pings"]:
            if ping["name"] == name:
                for digits in ("0.064", "0.068", "0.072", "0.076", "0.080"):
                    ping["out"] = ping["out"].replace(f"time={digits}", f"time={ms}")

    return change


def empty_drive() -> Change:
    """A drive of the site's as it comes from the maker."""
    return both(
        drive("/dev/nvme1n1", fstype=None, children=[]),
        put("disks", "signatures", MODELS_DISK, "out", to=""),
        swap("disks", "volume_groups", "out", old='"vg-models"', new='""'),
    )


def foreign_drive(mounted: bool = False) -> Change:
    """A drive of the site's with somebody else's file system."""
    signature = {"signatures": [{"device": "nvme1n1", "offset": "0x438", "type": "ext4", "uuid": "x", "label": "data"}]}
    return both(
        drive("/dev/nvme1n1", fstype="ext4", children=[], mountpoints=["/data" if mounted else None]),
        put("disks", "signatures", MODELS_DISK, "out", to=json.dumps(signature)),
        swap("disks", "volume_groups", "out", old='"vg-models"', new='""'),
    )


NOTHING_CAME = (
    "PING 10.30.0.41 (10.30.0.41) 8972(9000) bytes of data.\n\n5 packets transmitted, 0 received, 100% packet loss\n"
)
OWN_LIMIT = (
    "PING 10.30.0.41 (10.30.0.41) 8972(9000) bytes of data.\nping: local error: message too long, mtu=1500\n\n"
    "5 packets transmitted, 0 received, +5 errors, 100% packet loss, time 812ms\n"
)
ROUTER_LIMIT = (
    "PING 10.30.0.41 (10.30.0.41) 8972(9000) bytes of data.\n"
    "From 10.30.0.1 icmp_seq=1 Frag needed and DF set (mtu = 1500)\n\n5 packets transmitted, 0 received, +1 errors\n"
)


def wipe(serial: str) -> Any:
    """Let the site allow to wipe the first drive of gpu-01."""
    return lambda site: site["hosts"][0]["disks"][0].update(wipe=serial)


def apart(name: str) -> Any:
    """Have a model's prompts computed by one of its replicas."""

    def change(site: dict[str, Any]) -> None:
        (served,) = [model["phase2"] for model in site["models"] if model["name"] == name]
        served["disaggregation"] = {"prefill": 1, "decode": served["replicas"] - 1}

    return change


def gpu(**settings: Any) -> Any:
    """Change the site's block gpu."""
    return lambda site: site["gpu"].update(settings)
