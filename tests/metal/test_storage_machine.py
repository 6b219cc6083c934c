"""The machine's side of the role storage: how it reads what programs print, and what it refuses at the last moment."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "playbooks" / "roles" / "storage" / "module_utils"))

from storage_machine import acts, facts
from storage_machine.commands import Failed, run

from rackwright.metal import drive_steps

MIRROR = {"name": "md127", "path": "/dev/md127", "type": "raid1", "size": 1, "serial": None, "mountpoints": ["/srv"]}
LSBLK = {  # as lsblk 2.41 prints it
    "blockdevices": [
        {"name": "nvme0n1", "path": "/dev/nvme0n1", "type": "disk", "size": 2000, "serial": "A ", "mountpoints": [],
         "children": [
             {"name": "nvme0n1p1", "path": "/dev/nvme0n1p1", "type": "part", "size": 1, "serial": None,
              "mountpoints": [None], "children": [MIRROR]},
             {"name": "nvme0n1p2", "path": "/dev/nvme0n1p2", "type": "part", "size": 1, "serial": None,
              "mountpoints": [None], "children": [MIRROR]},
         ]},
    ]
}  # fmt: skip
WIPEFS = {
    "signatures": [
        {"device": "nvme0n1", "offset": "0x200", "type": "gpt", "uuid": "g", "label": None},
        {"device": "nvme0n1p1", "offset": "0x1000", "type": "linux_raid_member", "uuid": "r", "label": "host:0"},
        {"device": "md127", "offset": "0x438", "type": "ext4", "uuid": "e", "label": "letters"},
    ]
}


@pytest.fixture
def shown(monkeypatch):
    """One drive with two partitions in a mirror that is mounted; what was asked is kept."""
    asked = []

    def table(*command):
        asked.append(command)
        return LSBLK if command[0] == "lsblk" else WIPEFS

    monkeypatch.setattr(facts, "table", table)
    return asked


@pytest.mark.usefixtures("shown")
def test_a_drive_is_shown_with_what_is_on_it_once():
    found = facts.drives(["/dev/nvme0n1"])["/dev/nvme0n1"]
    assert (found["serial"], found["size"]) == ("A", 2000)
    assert [each["type"] for each in found["signatures"]] == ["gpt", "linux_raid_member"]
    assert [block["path"] for block in found["blocks"]] == [
        "/dev/nvme0n1", "/dev/nvme0n1p1", "/dev/md127", "/dev/nvme0n1p2",
    ]  # fmt: skip
    mirror = found["blocks"][2]
    assert (mirror["mounts"], mirror["fstype"], mirror["label"]) == (["/srv"], "ext4", "letters")


def test_lsblk_is_asked_for_names_without_which_it_shows_no_tree(shown):
    facts.drives(["/dev/nvme0n1"])
    columns = next(command[4] for command in shown if command[0] == "lsblk")
    assert columns.split(",")[0] == "NAME"


def test_what_is_on_a_drive_is_asked_of_the_drive(shown):
    facts.drives(["/dev/nvme0n1"])
    (command,) = (command for command in shown if command[0] == "wipefs")
    assert set(command[3:]) == {"/dev/nvme0n1", "/dev/nvme0n1p1", "/dev/nvme0n1p2", "/dev/md127"}


def test_an_xfs_that_mkfs_did_not_end_is_known(tmp_path):
    whole = bytearray(512)
    whole[:4] = b"XFSB"
    device = tmp_path / "device"
    device.write_bytes(whole)
    assert not facts.is_unfinished(str(device))
    whole[126] = 1
    device.write_bytes(whole)
    assert facts.is_unfinished(str(device))


@pytest.fixture
def done(monkeypatch):
    """What would have been run."""
    commands = []
    monkeypatch.setattr(acts, "run", lambda *command: commands.append(command))
    monkeypatch.setattr(acts, "_let_nobody_use", lambda _: None)
    monkeypatch.setattr(acts, "_flush", lambda path: commands.append(("flush", path)))
    return commands


@pytest.mark.usefixtures("shown")
def test_a_drive_that_was_exchanged_since_is_not_wiped(done):
    with pytest.raises(Failed, match="serial number A now, and B is meant"):
        acts.act({"act": "wipe", "path": "/dev/nvme0n1", "serial": "B"})
    assert done == []


@pytest.mark.usefixtures("shown")
def test_partitions_are_wiped_before_the_drive(done):
    acts.act({"act": "wipe", "path": "/dev/nvme0n1", "serial": "A"})
    assert [command[-1] for command in done[:3]] == ["/dev/nvme0n1p2", "/dev/nvme0n1p1", "/dev/nvme0n1"]


def test_a_step_is_kept_by_its_drives_before_the_next_begins(done):
    acts.act({"act": "create_group", "group": "vg-models", "paths": ["/dev/a", "/dev/b"]})
    assert [command[0] for command in done] == ["vgcreate", "udevadm", "flush", "flush"]


@pytest.mark.usefixtures("shown")
def test_a_drive_that_was_filled_since_is_not_claimed(done):
    with pytest.raises(Failed, match="gpt, linux_raid_member"):
        acts.act({"act": "claim", "path": "/dev/nvme0n1", "serial": "A", "uuid": "rckwrt-x"})
    assert done == []


@pytest.mark.usefixtures("shown")
def test_no_file_system_is_made_over_another(done, tmp_path):
    (tmp_path / "device").write_bytes(bytes(512))
    with pytest.raises(Failed, match="start again to see why"):
        acts.act({"act": "make_file_system", "device": str(tmp_path / "device")})
    assert done == []


def test_a_command_that_fails_is_told_with_its_words():
    with pytest.raises(Failed, match=r"ls /nowhere failed .*No such file"):
        run("ls", "/nowhere")
    with pytest.raises(Failed, match="no-such-program cannot be run"):
        run("no-such-program")


def test_every_step_that_is_planned_can_be_done():
    source = Path(drive_steps.__file__).read_text()
    planned = {line.split('"act": "')[1].split('"')[0] for line in source.splitlines() if '"act": "' in line}
    assert planned == set(acts.ACTS)
