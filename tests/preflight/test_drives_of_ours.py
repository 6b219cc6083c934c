"""Drives as the role storage leaves them, finished and cut off half-way: preflight takes them for what they are."""

import json

import pytest
from broken_machines import MODELS_DISK, both, drive, put, swap
from fleet import look

from rackwright.preflight import Weight
from rackwright.site.drive_marks import STATE, volume_identity

STATE_DISK = "/dev/disk/by-id/nvme-SAMSUNG_MZQL2960HCJR_S64FNE0R000601"
MIRROR = {"type": "linux_raid_member", "uuid": "41920876", "label": f"any:{STATE}"}


def signed(path, **signature):
    shown = {"signatures": [{"device": "nvme", "offset": "0x0", "uuid": None, "label": None, **signature}]}
    return put("disks", "signatures", path, "out", to=json.dumps(shown))


def half_claimed(identity):
    """A physical volume that is in no group."""
    return both(
        drive("/dev/nvme1n1", fstype="LVM2_member", children=[]),
        signed(MODELS_DISK, type="LVM2_member", uuid=identity),
        swap("disks", "volume_groups", "out", old='"vg-models"', new='""'),
    )


def state(kind, mounts=(), children=(), **signature):
    """A drive for the system that the system is not on."""
    return both(
        drive("/dev/nvme0n1", fstype=kind, pttype=None, mountpoints=list(mounts), children=list(children)),
        signed(STATE_DISK, type=kind, **signature),
    )


def test_a_drive_that_was_claimed_and_is_in_no_group_yet_is_ours():
    assert look({"gpu-01": half_claimed(volume_identity("S6CKNT0W000101"))}) == ()


def test_a_physical_volume_of_somebody_elses_is_not():
    (found,) = look({"gpu-01": half_claimed("Zx12ab-0000-0000-0000-0000-0000-000000")})
    assert found.check == "drives are empty"


@pytest.mark.parametrize(
    "change",
    [
        state("xfs", label=STATE),
        state("xfs", mounts=["/var/lib/rackwright", "/var/lib/etcd"], label=STATE),
        state("linux_raid_member", **{key: value for key, value in MIRROR.items() if key != "type"}),
    ],
    ids=["made and not mounted", "mounted", "half a mirror"],
)
def test_a_nodes_state_is_ours(change):
    assert look({"control-01": change}) == ()


def test_a_drive_for_the_system_that_is_somebody_elses_is_refused():
    (found,) = look({"control-01": state("ext4", label="data")})
    assert (found.check, found.weight) == ("drives are empty", Weight.FORBIDS)
    assert "running system does not use it" in found.what
    assert "wipefs" in found.cure
