"""What can be done to drives, one act at a time; the machine looks again before each that destroys anything."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rackwright.site.drive_marks import volume_identity

Step = dict[str, Any]


class Fault(NamedTuple):
    """Why nothing is done to any drive of the host, and what cures it."""

    what: str
    cure: str


def deactivate(group: str, group_uuid: str) -> Step:
    """Let go of a volume group that is about to be wiped."""
    return {"act": "deactivate", "group_uuid": group_uuid, "words": f"deactivate volume group {group}"}


def remove_group(group: str) -> Step:
    """Remove a volume group of ours, with its volumes."""
    return {"act": "remove_group", "group": group, "words": f"remove volume group {group} with every volume in it"}


def stop(array: str) -> Step:
    """Let go of an array."""
    return {"act": "stop", "array": array, "words": f"stop array {array}"}


def wipe(path: str, serial: str, content: str) -> Step:
    """Remove every signature from the one drive of this serial number."""
    return {"act": "wipe", "path": path, "serial": serial, "words": f"wipe {path} ({content}), serial number {serial}"}


def claim(path: str, serial: str) -> Step:
    """Make a blank drive, or one that was half claimed, a physical volume with our mark."""
    identity = volume_identity(serial)
    return {"act": "claim", "path": path, "serial": serial, "uuid": identity, "words": f"make {path} a physical volume"}


def create_group(group: str, paths: Sequence[str]) -> Step:
    """Make a volume group of claimed drives."""
    words = f"make volume group {group} of {', '.join(paths)}"
    return {"act": "create_group", "group": group, "paths": list(paths), "words": words}


def extend_group(group: str, paths: Sequence[str]) -> Step:
    """Let a volume group have more claimed drives."""
    words = f"extend volume group {group} by {', '.join(paths)}"
    return {"act": "extend_group", "group": group, "paths": list(paths), "words": words}


def create_mirror(paths: Sequence[str]) -> Step:
    """Mirror blank drives."""
    return {"act": "create_mirror", "paths": list(paths), "words": f"make a mirror of {', '.join(paths)}"}


def assemble_mirror(paths: Sequence[str]) -> Step:
    """Start a mirror of ours that does not run."""
    return {"act": "assemble_mirror", "paths": list(paths), "words": f"start the mirror on {', '.join(paths)}"}


def join_mirror(array: str, path: str) -> Step:
    """Let a running mirror have one more drive."""
    return {"act": "join_mirror", "array": array, "path": path, "words": f"add {path} to mirror {array}"}


def make_file_system(device: str) -> Step:
    """Make the file system of a node's state on a blank drive or mirror, or where mkfs did not come to its end."""
    return {"act": "make_file_system", "device": device, "words": f"make an xfs file system on {device}"}
