"""Rehearsals of a rollout that end before their end: a sentence, exit code 1, and nothing left of any of its parts."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from played_world import ROOT
from rehearsing import Rehearsal, own_cache, working_in
from waiting import until

from rackwright.sandbox import leftovers, processes

LAB = ROOT / "inventory" / "lab"
PATIENCE_S = 600
SAID = "The rehearsal was interrupted; everything that it had started has ended."


@pytest.fixture
def cache(tmp_path, toolbox):
    assert toolbox["pulumi"]  # built before, so that no moment below is spent on it
    return own_cache(tmp_path, "postgresql", "guests")


@pytest.fixture
def folder(tmp_path):
    """The lab, with one step of traffic."""
    found = tmp_path / "site"
    shutil.copytree(LAB, found)
    text = (found / "site.yml").read_text()
    (found / "site.yml").write_text(text.replace("{hold_s: 900}", "{hold_s: 900, weights: [100]}"))
    return found


@pytest.fixture
def begun(cache, folder):
    """Begins one, and ends it where the test did not."""
    found = []

    def begin(*options):
        found.append(Rehearsal(cache, folder, *options, command=("rollout", "rehearse")))
        return found[-1]

    yield begin
    for rehearsal in found:
        if rehearsal.process.poll() is None:
            rehearsal.ends(signal.SIGTERM, PATIENCE_S)


def homes(rehearsal):
    """Folders of PostgreSQL servers that were made for it: who is to remove one names it."""
    found = []
    for process, _ in working_in(rehearsal.cache):
        words = Path("/proc", str(process), "cmdline").read_text().split("\0")
        found += [Path(*Path(word).parts[:3]) for word in words if word.startswith("/tmp/rackwright-postgres-")]
    return set(found)


def at_work_in(home):
    """Processes that stand in a folder; PostgreSQL writes over what others are found by."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink().is_relative_to(home):
                found.append(int(entry.name))
        except OSError:
            continue  # it has ended meanwhile
    return found


def has_ended(home):
    return not home.exists() and not at_work_in(home)


def test_interrupted_again_and_again_while_both_control_planes_come_up_it_leaves_none(begun):
    rehearsal = begun()
    rehearsal.hears("Starting the control plane", PATIENCE_S)
    for _ in range(2):
        until(lambda: rehearsal.started("kwokctl"), "no control plane comes up")
        rehearsal.process.send_signal(signal.SIGINT)
    assert rehearsal.ends(signal.SIGINT, PATIENCE_S) == 1
    assert SAID in rehearsal.said
    assert rehearsal.left() == []


@pytest.mark.guests
@pytest.mark.usefixtures("_guests_can_boot")
def test_interrupted_while_a_guest_boots_it_leaves_none(begun):
    rehearsal = begun("--hosts", "--host", "gpu-01")
    rehearsal.hears("Booting gpu-01", PATIENCE_S)
    until(lambda: rehearsal.started("qemu-system"), "no guest boots")
    assert rehearsal.ends(signal.SIGTERM, PATIENCE_S) == 1
    assert SAID in rehearsal.said
    assert rehearsal.left() == []


@pytest.mark.whole_rollout
def test_interrupted_while_phase_1_is_laid_it_leaves_nothing(begun):
    rehearsal = begun()
    rehearsal.hears("== phase 1, as it is before", PATIENCE_S)
    until(lambda: rehearsal.started("pulumi"), "nothing is laid")
    assert rehearsal.ends(signal.SIGTERM, PATIENCE_S) == 1
    assert SAID in rehearsal.said
    assert rehearsal.left() == []


@pytest.mark.whole_rollout
@pytest.mark.parametrize(
    ("moment", "numbers"),
    [
        ("copy/postgresql: ", (signal.SIGINT, signal.SIGINT, signal.SIGINT)),
        ("cut-over/postgresql: ", (signal.SIGTERM,)),
        ("== a node's death", (signal.SIGINT,)),
    ],
)
def test_interrupted_with_databases_at_work_it_leaves_no_server(begun, moment, numbers):
    rehearsal = begun()
    rehearsal.hears(moment, PATIENCE_S)
    (home,) = homes(rehearsal)
    assert at_work_in(home)
    for number in numbers[1:]:
        rehearsal.process.send_signal(number)
    assert rehearsal.ends(numbers[0], PATIENCE_S) == 1
    assert SAID in rehearsal.said
    until(lambda: has_ended(home), "a server of PostgreSQL stays", 60)
    assert rehearsal.left() == []


@pytest.mark.whole_rollout
def test_what_a_killed_one_leaves_goes_by_itself_or_is_swept_by_the_next_and_nothing_of_others(cache, begun):
    planes = cache / "rackwright" / "control-planes"
    theirs = planes / "rehearsal-of-another"
    lock = leftovers.take(theirs)
    other = subprocess.Popen(["sleep", "3600"], env={"PATH": os.environ["PATH"], **processes.marked(theirs)})
    try:
        rehearsal = begun()
        rehearsal.hears("cut-over/postgresql: ", PATIENCE_S)
        (home,) = homes(rehearsal)
        assert at_work_in(home)
        assert rehearsal.ends(signal.SIGKILL, PATIENCE_S) == -signal.SIGKILL
        assert {"etcd", "kube-apiserver"} <= set(rehearsal.left())
        until(lambda: has_ended(home), "a server of PostgreSQL stays", 60)
        assert len(leftovers.sweep(planes)) == 2
        until(lambda: len(rehearsal.left()) <= 3, "something stays", 60)
        assert sorted(rehearsal.left()) == sorted(["sleep", theirs.name, f".{theirs.name}.lock"])
    finally:
        other.kill()
        other.wait()
        os.close(lock)
