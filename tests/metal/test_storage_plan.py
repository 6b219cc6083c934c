"""Which drives are claimed, wiped or refused: the decision, without a drive."""

import re

import pytest

from rackwright.metal.storage import packages, planned
from rackwright.site.drive_marks import STATE, STATE_FOLDERS, is_ours, volume_identity
from rackwright.site.hosts import Disk
from rackwright.site.storage_classes import VOLUME_PURPOSES, volume_group

NAME = "/dev/disk/by-id/nvme-MAKER_{}"
GIGABYTE = 10**9


def disk(serial, purpose="models", **fields):
    return {"path": NAME.format(serial), "size_gb": 1000, "purpose": purpose, "wipe": None, **fields}


def drive(number, serial, *, signatures=(), children=(), mounts=(), fstype="", label="", uuid="", **fields):
    """A drive as the machine shows it; nothing on it where nothing is said."""
    device = f"/dev/nvme{number}n1"
    own = {"path": device, "type": "disk", "fstype": fstype, "label": label, "uuid": uuid, "mounts": list(mounts)}
    signed = [{"device": device, **each} for each in signatures]
    return {
        "device": device,
        "size": 1000 * GIGABYTE,
        "serial": serial,
        "signatures": signed,
        "blocks": [own, *children],
        **fields,
    }


def facts(*drives, **more):
    return {"drives": {NAME.format(each["serial"]): each for each in drives}, **more}


def half_claimed(number, serial):
    return drive(number, serial, signatures=[{"type": "LVM2_member", "uuid": volume_identity(serial)}])


def volume(number, group, uuid="one"):
    return {"device": f"/dev/nvme{number}n1", "group": group, "group_uuid": uuid}


def data(number, serial, **more):
    return drive(number, serial, signatures=[{"type": "ext4", "label": "data"}], fstype="ext4", **more)


def acts(found):
    assert found["faults"] == []
    return [step["act"] for step in found["steps"]]


def refused(found):
    assert found["steps"] == []
    return "\n".join(found["faults"])


def test_blank_drives_of_one_purpose_become_one_group():
    found = planned([disk("A"), disk("B")], facts(drive(0, "A"), drive(1, "B")))
    assert acts(found) == ["claim", "claim", "create_group"]
    assert found["steps"][-1]["group"] == "vg-models"
    assert found["steps"][-1]["paths"] == [NAME.format("A"), NAME.format("B")]


@pytest.mark.parametrize("purpose", VOLUME_PURPOSES)
def test_the_group_is_the_one_that_components_name(purpose):
    found = planned([disk("A", purpose)], facts(drive(0, "A")))
    assert found["steps"][-1]["group"] == volume_group(purpose)


def test_what_is_done_is_not_done_again():
    claimed = facts(half_claimed(0, "A"), volumes=[volume(0, "vg-models")])
    assert planned([disk("A")], claimed) == {"faults": [], "steps": [], "state": {}}


def test_a_wipe_that_still_stands_in_the_file_does_not_wipe_what_is_ours():
    claimed = facts(half_claimed(0, "A"), volumes=[volume(0, "vg-models")])
    assert acts(planned([disk("A", wipe="A")], claimed)) == []


def test_a_volume_in_use_by_a_pod_is_nobodys_fault():
    pod = {"path": "/dev/mapper/vg--models-x", "type": "lvm", "fstype": "xfs", "mounts": ["/var/lib/kubelet/pods/x"]}
    claimed = facts({**half_claimed(0, "A"), "blocks": [pod]}, volumes=[volume(0, "vg-models")])
    assert acts(planned([disk("A")], claimed)) == []


class TestHalfDone:
    """A power cut after each step, and what the next run does."""

    def test_claimed_and_in_no_group(self):
        volumes = [{"device": "/dev/nvme0n1"}]
        found = planned([disk("A"), disk("B")], facts(half_claimed(0, "A"), drive(1, "B"), volumes=volumes))
        assert acts(found) == ["claim", "claim", "create_group"]

    def test_one_drive_of_two_in_the_group(self):
        found = planned(
            [disk("A"), disk("B")],
            facts(half_claimed(0, "A"), half_claimed(1, "B"), volumes=[volume(0, "vg-models")]),
        )
        assert acts(found) == ["claim", "extend_group"]
        assert found["steps"][-1]["paths"] == [NAME.format("B")]

    def test_a_physical_volume_of_somebody_elses_is_not_ours(self):
        foreign = drive(0, "A", signatures=[{"type": "LVM2_member", "uuid": "Zx12ab-0000"}])
        assert "LVM2_member" in refused(planned([disk("A")], facts(foreign)))

    def test_wiped_and_not_claimed(self):
        assert acts(planned([disk("A", wipe="A")], facts(drive(0, "A")))) == ["claim", "create_group"]


class TestSomebodyElses:
    def test_data_is_refused_with_its_name_and_the_cure(self):
        said = refused(planned([disk("A"), disk("B")], facts(data(0, "A"), drive(1, "B"))))
        assert NAME.format("A") in said
        assert 'ext4 "data"' in said
        assert 'wipe: "A"' in said

    def test_the_named_serial_number_allows_one_wipe(self):
        found = planned([disk("A", wipe="A")], facts(data(0, "A")))
        assert acts(found) == ["wipe", "claim", "create_group"]
        assert found["steps"][0]["serial"] == "A"

    def test_another_serial_number_allows_none(self):
        assert "wipe says B" in refused(planned([disk("A", wipe="B")], facts(data(0, "A"))))

    @pytest.mark.parametrize("mount", ["/data", "[SWAP]", "/"])
    def test_a_drive_in_use_is_not_wiped_by_any_name(self, mount):
        said = refused(planned([disk("A", wipe="A")], facts(data(0, "A", mounts=[mount]))))
        assert f"in use ({mount})" in said

    def test_an_opened_encryption_is_a_use(self):
        opened = {"path": "/dev/mapper/secret", "type": "crypt"}
        luks = drive(0, "A", signatures=[{"type": "crypto_LUKS"}], children=[opened])
        assert "crypt /dev/mapper/secret" in refused(planned([disk("A", wipe="A")], facts(luks)))

    def test_a_partition_table_is_data(self):
        assert "gpt" in refused(planned([disk("A")], facts(drive(0, "A", signatures=[{"type": "gpt"}]))))

    def test_a_drive_in_the_group_of_another_purpose_is_not_taken(self):
        claimed = facts(half_claimed(0, "A"), volumes=[volume(0, "vg-scratch")])
        assert "LVM2_member" in refused(planned([disk("A")], claimed))

    def test_a_group_is_let_go_before_its_drive_is_wiped(self):
        foreign = facts(drive(0, "A", signatures=[{"type": "LVM2_member"}]), volumes=[volume(0, "old")])
        assert acts(planned([disk("A", wipe="A")], foreign)) == ["deactivate", "wipe", "claim", "create_group"]

    def test_an_array_is_let_go_before_its_drive_is_wiped(self):
        member = drive(0, "A", signatures=[{"type": "linux_raid_member"}])
        foreign = facts(member, arrays=[{"device": "/dev/md127", "members": ["/dev/nvme0n1"]}])
        assert acts(planned([disk("A", wipe="A")], foreign)) == ["stop", "wipe", "claim", "create_group"]

    @pytest.mark.parametrize(
        "more",
        [
            {"volumes": [volume(0, "old"), volume(7, "old")]},
            {"arrays": [{"device": "/dev/md127", "members": ["/dev/nvme0n1", "/dev/nvme7n1"]}]},
        ],
    )
    def test_what_also_lies_on_a_drive_that_is_not_named_is_not_broken(self, more):
        said = refused(planned([disk("A", wipe="A")], facts(data(0, "A"), **more)))
        assert "/dev/nvme7n1" in said

    def test_it_may_go_where_all_its_drives_are_named(self):
        more = {"volumes": [volume(0, "old"), volume(1, "old")]}
        found = planned([disk("A", wipe="A"), disk("B", wipe="B")], facts(data(0, "A"), data(1, "B"), **more))
        assert acts(found).count("wipe") == 2

    def test_two_groups_of_one_name_are_told_apart_by_a_person(self):
        twice = [volume(0, "vg-models"), volume(1, "vg-models", "two")]
        found = planned([disk("A"), disk("B")], facts(half_claimed(0, "A"), half_claimed(1, "B"), volumes=twice))
        assert "two volume groups vg-models" in refused(found)

    def test_a_group_that_lacks_a_drive_is_not_extended(self):
        claimed = facts(half_claimed(0, "A"), drive(1, "B"), volumes=[volume(0, "vg-models")], lacking=["vg-models"])
        assert "vgreduce" in refused(planned([disk("A"), disk("B")], claimed))

    def test_one_drive_with_data_stops_all_others_of_the_host(self):
        disks = [disk("A"), disk("B", "database"), disk("C", "system")]
        assert refused(planned(disks, facts(drive(0, "A"), data(1, "B"), drive(2, "C"))))


def test_a_drive_that_is_missing_is_named():
    assert NAME.format("A") in refused(planned([disk("A")], facts()))


@pytest.mark.parametrize(("size", "wanted"), [(900, True), (960, False), (1100, True)])
def test_a_drive_of_another_size_is_not_the_one_that_is_meant(size, wanted):
    found = planned([disk("A")], facts(drive(0, "A", size=size * GIGABYTE)))
    assert bool(found["faults"]) is wanted


def member(number, serial, array="array", fs="", **fs_fields):
    """A drive in a mirror of ours; `fs` is what is on the mirror, `None` where it does not run."""
    running = {"path": "/dev/md127", "type": "raid1", "fstype": fs or "", **fs_fields}
    signature = {"type": "linux_raid_member", "uuid": array, "label": f"any:{STATE}"}
    return drive(number, serial, signatures=[signature], children=[] if fs is None else [running])


def system(*serials):
    return [disk(serial, "system") for serial in serials]


RUNNING = [{"device": "/dev/md127", "members": ["/dev/nvme0n1", "/dev/nvme1n1"]}]
FINISHED = {"fs": "xfs", "label": STATE, "uuid": "u"}


class TestState:
    """Drives with the purpose `system`."""

    def test_the_drive_of_the_system_is_left_alone(self):
        assert acts(planned(system("A"), facts(data(0, "A", mounts=["/"])))) == []

    def test_the_size_of_the_drive_of_the_system_is_nobodys_concern(self):
        assert acts(planned(system("A"), facts(data(0, "A", mounts=["/"], size=20 * GIGABYTE)))) == []

    def test_one_blank_drive_gets_a_file_system(self):
        assert acts(planned(system("A"), facts(drive(0, "A")))) == ["make_file_system"]

    def test_blank_drives_become_a_mirror(self):
        found = planned(system("A", "B"), facts(drive(0, "A"), drive(1, "B")))
        assert acts(found) == ["create_mirror", "make_file_system"]

    def test_the_systems_own_drive_is_in_no_mirror(self):
        found = planned(system("A", "B"), facts(data(0, "A", mounts=["/boot", "/"]), drive(1, "B")))
        assert found["steps"][0]["device"] == NAME.format("B")

    def test_a_finished_file_system_is_where_the_state_lies(self):
        made = drive(0, "A", signatures=[{"type": "xfs", "label": STATE}], fstype="xfs", label=STATE, uuid="u")
        found = planned(system("A"), facts(made))
        assert (found["steps"], found["state"]) == ([], {"device": "/dev/nvme0n1", "uuid": "u"})

    def test_a_file_system_that_was_not_finished_is_made_again(self):
        made = drive(0, "A", signatures=[{"type": "xfs", "label": STATE}], fstype="xfs", label=STATE, uuid="u")
        made["blocks"][0]["unfinished"] = True
        assert acts(planned(system("A"), facts(made))) == ["make_file_system"]

    def test_a_mirror_without_a_file_system_gets_one(self):
        found = planned(system("A", "B"), facts(member(0, "A"), member(1, "B"), arrays=RUNNING))
        assert acts(found) == ["make_file_system"]

    def test_a_whole_mirror_is_left_as_it_is(self):
        found = planned(system("A", "B"), facts(member(0, "A", **FINISHED), member(1, "B", **FINISHED), arrays=RUNNING))
        assert (found["steps"], found["state"]) == ([], {"device": "/dev/md127", "uuid": "u"})

    def test_half_a_mirror_is_started(self):
        found = planned(system("A", "B"), facts(member(0, "A", fs=None), drive(1, "B")))
        assert acts(found) == ["assemble_mirror"]
        stopped = [{"device": "/dev/md127", "members": ["/dev/nvme0n1"], "active": False}]
        found = planned(system("A", "B"), facts(member(0, "A", fs=None), drive(1, "B"), arrays=stopped))
        assert acts(found) == ["stop", "assemble_mirror"]

    @pytest.mark.parametrize("second", [drive(1, "B"), member(1, "B", fs=None)], ids=["blank", "fallen out"])
    def test_a_mirror_is_completed(self, second):
        alone = [{"device": "/dev/md127", "members": ["/dev/nvme0n1"]}]
        found = planned(system("A", "B"), facts(member(0, "A", **FINISHED), second, arrays=alone))
        assert acts(found) == ["join_mirror"]
        assert found["steps"][0]["path"] == NAME.format("B")

    def test_mirrors_of_two_machines_are_not_mixed(self):
        found = planned(system("A", "B"), facts(member(0, "A", **FINISHED), member(1, "B", "other"), arrays=RUNNING))
        assert "do not belong together" in refused(found)

    def test_a_drive_is_not_made_half_of_a_mirror_afterwards(self):
        made = drive(0, "A", signatures=[{"type": "xfs", "label": STATE}], fstype="xfs", label=STATE, uuid="u")
        assert "do not belong together" in refused(planned(system("A", "B"), facts(made, drive(1, "B"))))

    def test_data_that_the_system_does_not_use_is_refused(self):
        said = refused(planned(system("A"), facts(data(0, "A"))))
        assert "does not use it" in said

    def test_another_file_system_on_our_mirror_is_refused(self):
        found = planned(system("A"), facts(member(0, "A", fs="ext4"), arrays=RUNNING))
        assert "ext4" in refused(found)

    def test_nothing_is_mounted_over_what_a_cluster_has_written(self):
        found = planned(system("A"), facts(drive(0, "A"), full_folders=["/var/lib/rancher"]))
        assert "/var/lib/rancher" in refused(found)


def test_an_identity_has_the_form_of_lvms_and_is_known_as_ours():
    identity = volume_identity("S6CKNT0W000101")
    assert re.fullmatch(r"\w{6}(-\w{4}){5}-\w{6}", identity)
    assert identity != volume_identity("S6CKNT0W000102")
    assert is_ours("models", "LVM2_member", identity, "")
    assert not is_ours("system", "LVM2_member", identity, "")


def test_a_nodes_state_is_no_volume():
    assert is_ours("system", "xfs", "", STATE)
    assert not is_ours("models", "xfs", "", STATE)
    assert "/var/lib/kubelet" in STATE_FOLDERS


def test_mirrors_are_installed_where_they_are_needed():
    one, two = ([Disk.model_validate(each).model_dump(mode="json") for each in system(*names)] for names in ("A", "AB"))
    assert "mdadm" not in packages(one)
    assert "mdadm" in packages(two)
