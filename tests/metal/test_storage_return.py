"""Which drives are given back when a host is taken back: those that were named, and what is ours on them."""

from test_storage_plan import FINISHED, NAME, RUNNING, data, disk, drive, facts, half_claimed, member, system, volume

from rackwright.metal.storage_return import returned


def acts(found):
    assert found["faults"] == []
    return [step["act"] for step in found["steps"]]


def refused(found):
    assert found["steps"] == []
    return "\n".join(found["faults"])


CLAIMED = facts(half_claimed(0, "A"), half_claimed(1, "B"), volumes=[volume(0, "vg-models"), volume(1, "vg-models")])
MODELS = [disk("A"), disk("B")]


def test_what_nobody_names_is_kept_and_said():
    found = returned(MODELS, [], CLAIMED)
    assert acts(found) == []
    assert [line.split(":")[0] for line in found["kept"]] == [NAME.format("A"), NAME.format("B")]


def test_a_group_goes_when_all_its_drives_are_named():
    found = returned(MODELS, ["A", "B"], CLAIMED)
    assert acts(found) == ["remove_group", "wipe", "wipe"]
    assert found["kept"] == []


def test_a_group_of_which_one_drive_is_named_is_not_broken():
    assert "/dev/nvme1n1" in refused(returned(MODELS, ["A"], CLAIMED))


def test_a_second_run_has_nothing_to_do():
    assert acts(returned(MODELS, ["A", "B"], facts(drive(0, "A"), drive(1, "B")))) == []


def test_a_power_cut_after_the_group_went_is_gone_on_from():
    found = returned(MODELS, ["A", "B"], facts(half_claimed(0, "A"), drive(1, "B"), volumes=[volume(0, "")]))
    assert acts(found) == ["wipe"]


def test_somebody_elses_data_is_never_emptied():
    assert "not Rackwright's" in refused(returned(MODELS, ["A"], facts(data(0, "A"))))
    elsewhere = facts(half_claimed(0, "A"), volumes=[volume(0, "vg-scratch")])
    assert "not Rackwright's" in refused(returned(MODELS, ["A"], elsewhere))


def test_the_systems_own_drive_is_never_emptied():
    assert "not Rackwright's" in refused(returned(system("A"), ["A"], facts(data(0, "A", mounts=["/"]))))


def test_a_volume_that_somebody_mounted_by_hand_is_in_use():
    lying = {"path": "/dev/mapper/vg--models-x", "type": "lvm", "mounts": ["/mnt"]}
    found = facts({**half_claimed(0, "A"), "blocks": [lying]}, volumes=[volume(0, "vg-models")])
    assert "/mnt" in refused(returned([disk("A")], ["A"], found))


def test_pods_are_gone_by_then():
    lying = {"path": "/dev/mapper/vg--models-x", "type": "lvm", "mounts": ["/var/lib/kubelet/pods/x"]}
    found = facts({**half_claimed(0, "A"), "blocks": [lying]}, volumes=[volume(0, "vg-models")])
    assert acts(returned([disk("A")], ["A"], found)) == ["remove_group", "wipe"]


def test_a_nodes_state_goes_with_all_of_its_mirror():
    mounted = {**FINISHED, "mounts": ["/var/lib/rackwright", "/var/lib/etcd"]}
    found = facts(member(0, "A", **mounted), member(1, "B", **mounted), arrays=RUNNING)
    whole = returned(system("A", "B"), ["A", "B"], found)
    assert acts(whole) == ["stop", "wipe", "wipe"]
    assert whole["state_goes"]
    assert "/dev/nvme1n1" in refused(returned(system("A", "B"), ["A"], found))
