"""What Rackwright leaves on a drive, so that a later run knows it as its own, however far an earlier one came."""

import hashlib

from rackwright.site.hosts import Purpose

SIZE_TOLERANCE = 0.05  # drives are sold in round figures of 10^9 bytes
STATE = "rackwright"  # label of the file system, and name of the mirror, that holds a node's own state
STATE_FOLDER = "/var/lib/rackwright"
STATE_FOLDERS = ("/var/lib/containerd", "/var/lib/etcd", "/var/lib/kubelet", "/var/lib/rancher")

_VOLUME = "rckwrt"
_GROUPS = (4, 4, 4, 4, 4, 6)  # how LVM writes an identity, after the first six characters


def volume_identity(serial: str) -> str:
    """The identity of the physical volume that is made on a drive: one that is in no group yet is ours all the same."""
    digest = hashlib.sha256(serial.encode()).hexdigest()
    parts, start = [_VOLUME], 0
    for length in _GROUPS:
        parts.append(digest[start : start + length])
        start += length
    return "-".join(parts)


def is_ours(purpose: Purpose, kind: str, identity: str, label: str) -> bool:
    """True of a signature that an earlier run has left on a drive of this purpose."""
    if purpose != "system":
        return kind == "LVM2_member" and identity.startswith(f"{_VOLUME}-")
    return (kind, label.removeprefix("any:")) in {("linux_raid_member", STATE), ("xfs", STATE)}
