"""A booted host's NVMe drives: claimed, guarded, and never half lost, whenever the power goes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from rackwright.site.drive_marks import STATE_FOLDERS

ROOT = Path(__file__).resolve().parents[2]
PLAYBOOK = Path(__file__).with_name("storage.yml")
HOST = "ws-01"
NAME = "/dev/disk/by-id/nvme-MAKER_{}"
DRIVES = {  # serial number: GB, purpose; the first holds the system
    "OS": (26, "system"), "STATE1": (2, "system"), "STATE2": (2, "system"),
    "MODELS1": (2500, "models"), "MODELS2": (2500, "models"),
    "VECTORS": (2000, "vectors"), "DATABASE": (2000, "database"), "SCRATCH": (1000, "scratch"),
}  # fmt: skip
GROUPS = {"vg-models": 2, "vg-vectors": 1, "vg-database": 1, "vg-scratch": 1}


def site(folder, *more, **fields):
    """The workstation with these drives; `fields` are added to a drive by its serial number."""
    found = yaml.safe_load((ROOT / "inventory" / "workstation" / "site.yml").read_text())
    drives = [
        {"path": NAME.format(serial), "size_gb": size, "purpose": purpose, **fields.get(serial, {})}
        for serial, (size, purpose) in DRIVES.items()
    ]
    found["hosts"][0]["disks"] = [*drives, *more]
    folder.mkdir(parents=True)
    (folder / "site.yml").write_text(yaml.safe_dump(found, sort_keys=False))
    return folder


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    return tmp_path_factory.mktemp("sites")


@pytest.fixture(scope="module")
def allowed(sites):
    """The site in which somebody allowed to wipe the drive that has data."""
    return site(sites / "allowed", DATABASE={"wipe": "DATABASE"})


@pytest.fixture(scope="module")
def machines(rack, sites):
    return rack(site(sites / "right"), HOST)


@pytest.fixture(scope="module")
def guest(machines):
    return machines[HOST]


@pytest.fixture(scope="module")
def converge(machines):
    def run(*options, site=None, playbook=PLAYBOOK, **variables):
        runner = replace(machines.runner, site=site) if site else machines.runner
        return runner.playbook(playbook, *options, limit=[HOST], variables=variables)

    return run


def content(guest):
    """What is on the drives, by a tool that has nothing to do with the role."""
    return guest.says("for each in /dev/nvme*n1; do echo $each; wipefs --no-act --parsable $each; done")


def groups(guest):
    said = guest.says("vgs --noheadings --options vg_name,pv_count")
    return {name: int(count) for name, count in (line.split() for line in said.splitlines())}


def words(ran):
    """What a run said, whatever lines it was broken into."""
    return " ".join(ran.said.split())


def trap(guest, program, script):
    """Let a program do `script` instead, and wait for the power cut."""
    text = f"#!/bin/sh\n{script}\nsync\ntouch /run/trapped\nexec sleep 100000\n"
    guest.ssh(f"cat > /usr/local/sbin/{program} && chmod 755 /usr/local/sbin/{program}", text=text)


def cut(guest, machines, program, site):
    """Run the role until the trap closes, then take the power away."""
    with replace(machines.runner, site=site).start(PLAYBOOK, limit=[HOST]) as process:
        while guest.ssh("timeout 20 sh -c 'until [ -e /run/trapped ]; do sleep 0.2; done'", check=False).returncode:
            assert process.poll() is None, f"it ended before the trap closed:\n{process.stdout.read()[-6000:]}"
        guest.power_cut()
        process.kill()
    guest.power_on()
    guest.ssh(f"rm -f /usr/local/sbin/{program}")


def of_drives(converge, tmp_path, site):
    """What preflight says of drives."""
    report = tmp_path / "report.json"
    converge(playbook=ROOT / "playbooks" / "preflight.yml", site=site, preflight_report=str(report))
    findings = json.loads(report.read_text())["data"]["findings"]
    return [finding for finding in findings if finding["check"].startswith("drives")]


def test_an_empty_host_is_only_looked_at(guest, converge):
    before = content(guest)
    ran = converge("--check", "--diff").demand()
    assert ran.stats[HOST]["changed"] > 0
    assert "make volume group vg-models of" in ran.said
    assert "make a mirror of" in ran.said
    assert content(guest) == before


def test_drives_that_are_not_the_sites_to_take_are_named_with_the_cure_and_none_is_touched(guest, converge, sites):
    guest.ssh(f"mkfs.xfs -q -L letters {NAME.format('DATABASE')}")
    before = content(guest)
    gone = {"path": NAME.format("GONE"), "size_gb": 1000, "purpose": "scratch"}
    ran = converge(site=site(sites / "wrong", gone, VECTORS={"size_gb": 3840}))
    assert not ran.succeeded
    assert f"There is no drive {NAME.format('GONE')}" in words(ran)
    assert f"{NAME.format('VECTORS')} has 2000.0 GB, and the site says 3840" in words(ran)
    assert 'has data on it (xfs "letters")' in words(ran)
    assert 'wipe: "DATABASE"' in words(ran)
    assert content(guest) == before


def test_a_power_cut_while_a_group_is_made(guest, machines, converge, allowed, tmp_path):
    trap(guest, "vgcreate", '/usr/sbin/vgcreate "$1" "$2" "$3"')  # the first of two drives
    cut(guest, machines, "vgcreate", allowed)
    assert groups(guest) == {"vg-models": 1}
    assert "letters" in content(guest)
    assert of_drives(converge, tmp_path, allowed) == []


def test_a_power_cut_while_a_file_system_is_made(guest, machines, allowed):
    half = "printf '\\001' | dd of=\"$device\" bs=1 seek=126 conv=notrunc"  # as mkfs leaves it until its end
    trap(guest, "mkfs.xfs", f'/usr/sbin/mkfs.xfs "$@"\nfor device; do :; done\n{half}')
    cut(guest, machines, "mkfs.xfs", allowed)
    assert groups(guest) == GROUPS
    assert "letters" not in content(guest)


def test_the_next_run_ends_what_was_begun(guest, converge, allowed):
    converge(site=allowed).demand()
    assert groups(guest) == GROUPS
    assert_the_state_is_in_its_place(guest)
    assert guest.says("systemctl is-enabled fstrim.timer") == "enabled"
    assert set(guest.says("cat /sys/block/nvme*n1/queue/scheduler | grep -o '\\[.*\\]'").split()) == {"[none]"}


def assert_the_state_is_in_its_place(guest):
    uuid = guest.says("blkid --output value --match-tag UUID /dev/md/rackwright")
    assert f"UUID={uuid} /var/lib/rackwright xfs" in guest.says("cat /etc/fstab")
    for folder in STATE_FOLDERS:
        assert guest.says(f"findmnt --noheadings --output UUID,FSTYPE --mountpoint {folder}").split() == [uuid, "xfs"]
    assert guest.says("cat /sys/block/md*/md/raid_disks") == "2"


def test_a_reboot_keeps_all_and_wipe_in_the_file_wipes_nothing_again(guest, converge, allowed):
    volume = "/dev/vg-database/kept"
    guest.ssh(f"lvcreate --yes --quiet --size 400M --name kept vg-database && mkfs.xfs -q {volume}")
    guest.ssh(f"mount {volume} /mnt && echo letters > /mnt/kept && umount /mnt && echo etcd > /var/lib/etcd/kept")
    guest.reboot()
    assert_the_state_is_in_its_place(guest)
    assert converge(site=allowed).demand().changed == {}
    assert guest.says(f"mount {volume} /mnt && cat /mnt/kept && umount /mnt") == "letters"
    assert guest.says("cat /var/lib/etcd/kept") == "etcd"


def test_a_host_in_order_has_nothing_to_be_done(converge, allowed):
    assert converge("--check", "--diff", site=allowed).demand().changed == {}


class TestTakenBack:
    """playbooks/reset.yml."""

    @pytest.fixture
    def reset(self, converge):
        def run(*options, **variables):
            return converge(*options, playbook=ROOT / "playbooks" / "reset.yml", **variables)

        return run

    def test_nothing_happens_unless_it_is_confirmed(self, guest, reset):
        before = content(guest)
        ran = reset(reset_hosts=HOST, confirm="another-site")
        assert not ran.succeeded
        assert "No host was touched" in words(ran)
        assert content(guest) == before

    def test_drives_that_nobody_named_are_kept(self, guest, reset):
        before = content(guest)
        ran = reset(reset_hosts=HOST, confirm="workstation").demand()
        assert NAME.format("DATABASE") in ran.said
        assert content(guest) == before

    def test_a_serial_number_that_is_nowhere_is_refused(self, guest, reset):
        before = content(guest)
        ran = reset(reset_hosts=HOST, confirm="workstation", reset_drives="VECTORS,NOBODYS")
        assert not ran.succeeded
        assert "NOBODYS" in words(ran)
        assert content(guest) == before

    def test_named_drives_are_emptied_and_provisioned_again(self, guest, reset, converge):
        named = {"reset_hosts": HOST, "confirm": "workstation", "reset_drives": "DATABASE,STATE1,STATE2"}
        reset(**named).demand()
        assert groups(guest) == {name: count for name, count in GROUPS.items() if name != "vg-database"}
        assert "rackwright" not in guest.says("cat /etc/fstab")
        assert reset(**named).demand().changed == {}
        converge().demand()
        assert groups(guest) == GROUPS
        assert_the_state_is_in_its_place(guest)
