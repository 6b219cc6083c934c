"""The rollout's own steps on machines, by the real Ansible on two booted guests: killed, cut off, and carried on.

The site has one server of phase 1 that joins later and one new host, which alone carries phase 2 meanwhile: nothing of
the way is left out. Each act runs in a process of its own under the rollout's lock. NVIDIA's packages and k3s are
stand-ins. No cluster of phase 2 is founded here, so the steps that found and join one are not among these.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from waiting import until

from rackwright.errors import Refusal
from rackwright.guests.stand_ins.lay import lay
from rackwright.rollout.lock import FILE_NAME, held

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests/fixtures/valid/small_rack.yml"
PROGRAM = Path(__file__).with_name("step_process.py")
OLD, NEW = "gpu-01", "gpu-02"
SERVER = "10.0.0.1"  # this machine, in the guests' network
STATE = [  # the old server has its node's state on a drive of its own
    {"path": "/dev/disk/by-id/nvme-SAMSUNG_MZ_OS", "size_gb": 26, "purpose": "system"},
    {"path": "/dev/disk/by-id/nvme-SAMSUNG_MZ_STATE", "size_gb": 8, "purpose": "system"},
]
GROUPS = {"vg-models", "vg-vectors", "vg-database", "vg-scratch"}
KILLED_AT = "Look at the drives"  # the first task of the role storage
VGCREATE = """\
#!/bin/sh
[ -e /run/first ] || { touch /run/first; exec /usr/sbin/vgcreate "$@"; }
sync
touch /run/second
exec sleep 100000
"""
TRAP = "/usr/local/sbin/vgcreate"
WRITTEN = "find /etc /usr/local -newer /run/before -not -path '*/.ansible*' | sort"
PACKAGES = "dpkg-query -W | md5sum; apt-mark showhold"
VOLUME = "/dev/vg-models/kept"
KEYS = "/etc/kubernetes/encryption"
K3S = "systemctl show k3s --property=MainPID,ActiveEnterTimestampMonotonic,UnitFileState"
pytestmark = [pytest.mark.guests, pytest.mark.whole_rollout]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The small rack's server with a GPU twice: the old one of both phases, and a new one with a cluster to bear."""
    folder = tmp_path_factory.mktemp("grows")
    text = yaml.safe_load(SMALL.read_text())
    _, old = text["hosts"]
    new = yaml.safe_load(yaml.safe_dump(old).replace("MZ_S", "MZ_T"))
    old |= {"name": OLD, "address": "10.0.0.11", "phases": [1, 2], "disks": [*STATE, *old["disks"]]}
    new |= {"name": NEW, "roles": ["control", "inference"]}
    new["nics"][0]["mac"] = "52:54:00:00:00:03"
    text["hosts"] = [old, new]
    text["networks"]["name_servers"] = [SERVER]
    text["networks"]["nodes"]["gateway"] = SERVER
    text["clusters"]["phase1"] = {"api": old["address"], "kubeconfig": str(folder / "kube" / "phase1")}
    text["clusters"]["phase2"] |= {"kubeconfig": str(folder / "kube" / "phase2"), "pods": "10.44.0.0/16"}
    text["clusters"]["phase2"]["services"] = "10.45.0.0/16"
    text["models"][0]["phase1"] = {"replicas": 1}
    (folder / "site.yml").write_text(yaml.safe_dump(text, sort_keys=False))
    return folder


@pytest.fixture(scope="module")
def machines(rack, site):
    return rack(site, OLD, NEW, memory_mib=3072)


@pytest.fixture(scope="module")
def told(machines):
    """What Ansible needs on guests, whatever step runs it."""
    return machines.runner.variables() | lay(machines, 1).variables


@pytest.fixture(scope="module")
def begin(machines, told):
    """Begins an act of a step; its process."""

    def begin(step, act, **more):
        process = subprocess.Popen(
            [*machines.namespace.entering(), sys.executable, str(PROGRAM)],
            cwd=ROOT,
            env=machines.runner.environment() | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        wanted = {"site": str(machines.site_folder), "step": step, "act": act, "told": told | more}
        process.stdin.write(json.dumps(wanted))
        process.stdin.close()
        return process

    return begin


@pytest.fixture(scope="module")
def carry_out(begin):
    """Carries an act out; what came of it."""

    def carry_out(step, act, **more):
        with begin(step, act, **more) as process:
            said = process.stdout.read()
        assert process.returncode == 0, said
        return json.loads(said.splitlines()[-1])

    return carry_out


@pytest.fixture(scope="module")
def serving(machines, told):
    """The old server once phase 1 is there, with data on a drive; what it is, to see that nobody touches it."""
    guest = machines[OLD]
    machines.ansible("playbooks/site.yml", limit=[OLD], variables={"phase": 1, **told}).demand()
    guest.ssh(f"lvcreate --yes --quiet --size 400M --name kept vg-models && mkfs.xfs -q {VOLUME}")
    guest.ssh(f"mount {VOLUME} /mnt && echo weights >/mnt/kept && umount /mnt && touch /run/before")
    return traces(guest)


def traces(guest):
    return {
        "boot": guest.boot(), "k3s": guest.says(K3S), "files": guest.says(WRITTEN), "packages": guest.says(PACKAGES),
        "drives": guest.says("vgs --noheadings; lvs --noheadings"),
    }  # fmt: skip


@pytest.fixture(scope="module")
def fresh(machines, serving, carry_out):
    """What the gate and a look said of the new host, and what they left on it."""
    assert serving["files"] == ""
    guest = machines[NEW]
    guest.ssh("touch /run/before")
    before = guest.says(PACKAGES)
    gate, strict = carry_out("new hosts", "__call__"), carry_out("new hosts", "__call__", excused_checks=[])
    return gate, strict, carry_out("provision", "look"), guest.says(WRITTEN), guest.says(PACKAGES) == before


def test_the_gate_says_of_a_fresh_host_what_preflight_says(fresh):
    gate, strict, *_ = fresh
    assert gate["passed"]
    assert gate["words"].startswith("Preflight of small, phase 2: 1 host asked")
    assert gate["words"].endswith("nothing forbids going on.")
    assert not strict["passed"]
    assert strict["words"].endswith("1 host forbids going on.")
    assert list(gate["changes"]) == [NEW]


def test_a_look_at_a_fresh_host_finds_it_absent_and_changes_nothing(fresh):
    *_, looked, written, packages_are_the_same = fresh
    assert (looked["state"], looked["words"]) == ("ABSENT", f"{NEW} would be changed")
    assert list(looked["changes"]) == [NEW]
    assert written == ""
    assert packages_are_the_same


@pytest.fixture(scope="module")
def cut_off(fresh, machines, begin):
    """The step's process killed, Ansible at work all the same, then the power gone between two volume groups."""
    assert fresh
    guest, lock = machines[NEW], (machines.site_folder / FILE_NAME).resolve()
    guest.ssh(f"cat >{TRAP} && chmod 755 {TRAP}", text=VGCREATE)
    with begin("provision", "do") as process:
        said = []
        for line in process.stdout:
            said.append(line)
            if line.strip() == KILLED_AT:
                break
        process.kill()
    assert process.returncode == -signal.SIGKILL, "".join(said)
    with pytest.raises(Refusal, match="or what it started still does") as refused, held(machines.site_folder):
        pass
    until(lambda: guest.ssh("test -e /run/second", check=False).returncode == 0, "Ansible did not work on")
    guest.power_cut()
    for number in holding(lock):  # this machine's power goes, too
        os.kill(number, signal.SIGKILL)
    until(lambda: not holding(lock), "something of it stays")
    guest.power_on()
    guest.ssh(f"rm {TRAP}")
    return refused.value.what, process.pid


def holding(file):
    """Processes that have a file open."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if any(each.readlink() == file for each in (place / "fd").iterdir()):
                found.append(int(place.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def groups(guest):
    return set(guest.says("vgs --noheadings --options vg_name").split())


def test_what_a_killed_command_started_holds_the_rollout_as_long_as_it_works(cut_off):
    words, process = cut_off
    assert f"(process {process}, since " in words


@pytest.fixture(scope="module")
def carried_on(cut_off, machines, carry_out):
    """What a look said of the host that was cut off, and the step carried out again."""
    assert cut_off
    guest = machines[NEW]
    half, looked = groups(guest), carry_out("provision", "look")
    return half, looked, carry_out("provision", "do"), guest.boot()


def test_half_a_host_is_not_done_and_the_next_run_ends_what_was_begun(carried_on, machines):
    half, looked, done, _ = carried_on
    assert len(half) == 1
    assert (looked["state"], looked["words"]) == ("ABSENT", f"{NEW} would be changed")
    assert list(done["changes"]) == [NEW]
    assert groups(machines[NEW]) == GROUPS
    assert machines[NEW].says("nvidia-smi --list-gpus | wc -l") == "1"


def test_then_it_is_done_and_once_more_changes_nothing(carried_on, machines, carry_out):
    assert carried_on
    looked, again = carry_out("provision", "look"), carry_out("provision", "do")
    assert (looked["state"], looked["words"]) == ("DONE", f"{NEW} as the site says")
    assert looked["changes"] == again["changes"] == {NEW: []}
    assert machines[NEW].boot() == carried_on[-1]


def test_a_part_of_a_cluster_behind_a_silent_api_is_seen_and_taken_off(carried_on, machines, carry_out):
    """As a founding or its way back leaves a host that was killed in it; no cluster is founded here."""
    assert carried_on
    assert carry_out("found", "look")["state"] == "ABSENT"
    machines[NEW].ssh(f"mkdir -p {KEYS}")
    half = carry_out("found", "look")
    assert half["state"] == "TO_FINISH"
    assert half["words"].endswith(f"and {NEW} has a part of a cluster")
    taken_off = carry_out("found", "undo")["changes"]
    assert [name for name, tasks in taken_off.items() if tasks] == [NEW]
    assert carry_out("found", "look")["state"] == "ABSENT"
    assert machines[NEW].ssh(f"test -e {KEYS}", check=False).returncode == 1
    assert groups(machines[NEW]) == GROUPS


def test_the_old_server_was_not_touched_by_any_of_it(carried_on, serving, machines):
    assert carried_on
    assert traces(machines[OLD]) == serving


@pytest.fixture(scope="module")
def old(serving, carried_on, machines):
    """The old server, whose turn comes when the new host is there."""
    assert serving
    assert carried_on
    return machines[OLD]


def test_what_is_taken_off_for_the_other_phase_leaves_phase_1_alone(old, machines, told):
    """A reset of phase 2, which is the way back of founding it, on a host of both phases."""
    named = {"phase": 2, "reset_hosts": OLD, "confirm": "small"}
    assert machines.ansible("playbooks/reset.yml", variables=told | named).demand().changed == {}
    assert old.says("systemctl is-active k3s") == "active"


@pytest.fixture(scope="module")
def half_clean(old, carry_out):
    """What looks said of the old server as it serves, and as a cleaning leaves it that was killed after k3s ended."""
    before = carry_out("clean", "look")
    assert old.says("systemctl is-active k3s") == "active"
    old.ssh("systemctl disable --now k3s")
    return before, carry_out("clean", "look"), carry_out("joining hosts", "__call__")


def test_the_old_server_is_clean_only_when_nothing_of_k3s_is_left_on_it(half_clean):
    before, half, gate = half_clean
    assert (before["state"], half["state"]) == ("ABSENT", "ABSENT")
    assert half["words"] == f"{OLD} still has what is phase 1's"
    assert not gate["passed"], "with a half of k3s it could not join"


@pytest.fixture(scope="module")
def clean(half_clean, carry_out):
    assert half_clean
    return carry_out("clean", "do")


def test_phase_1_is_taken_off_and_the_drives_keep_what_they_have(clean, old, carry_out):
    assert list(clean["changes"]) == [OLD]
    looked = carry_out("clean", "look")
    assert (looked["state"], looked["changes"]) == ("DONE", {OLD: []})
    assert old.says("ls -d /usr/local/bin/k3s* /etc/rancher/k3s /var/lib/rancher/k3s 2>/dev/null | cat") == ""
    assert "token" in old.says("ls /var/backups/rackwright-k3s")
    assert groups(old) == GROUPS
    assert old.says(f"mount {VOLUME} /mnt && cat /mnt/kept && umount /mnt") == "weights"
    assert old.says("findmnt --noheadings --output FSTYPE --mountpoint /var/lib/kubelet") == "xfs"


def test_a_clean_server_may_join(clean, carry_out):
    assert clean
    assert carry_out("joining hosts", "__call__")["passed"]
