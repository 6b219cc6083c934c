"""Rehearsals that end before their end: every one with a sentence, exit code 1 and nothing left."""

import os
import signal

import pytest
from rehearsing import INVENTORY, Rehearsal, own_cache

from rackwright.sandbox import leftovers

SITE = INVENTORY / "workstation"


@pytest.fixture
def cache(tmp_path, toolbox):
    assert toolbox["pulumi"]  # built before, so that no moment below is spent on it
    return own_cache(tmp_path)


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("Starting the control plane", signal.SIGINT),
        ("== machines", signal.SIGTERM),
        ("creating Release", signal.SIGINT),
        ("creating Deployment", signal.SIGHUP),
        ("== second run", signal.SIGINT),
    ],
)
def test_an_interrupted_rehearsal_ends_everything(cache, moment, number):
    rehearsal = Rehearsal(cache, SITE)
    rehearsal.hears(moment)
    assert rehearsal.ends(number, 30) == 1
    assert "The rehearsal was interrupted; everything that it had started has ended." in rehearsal.said
    assert rehearsal.left() == []


def test_a_second_interruption_does_not_stop_the_clearing(cache):
    rehearsal = Rehearsal(cache, SITE)
    rehearsal.hears("creating Release")
    for _ in range(3):
        rehearsal.process.send_signal(signal.SIGINT)
    assert rehearsal.ends(None, 30) == 1
    assert rehearsal.left() == []


def test_an_interrupted_rehearsal_is_not_kept(cache):
    rehearsal = Rehearsal(cache, SITE, "--keep")
    rehearsal.hears("creating Release")
    assert rehearsal.ends(signal.SIGINT, 30) == 1
    assert rehearsal.left() == []


def test_what_a_killed_rehearsal_leaves_is_swept_by_the_next(cache):
    rehearsal = Rehearsal(cache, SITE)
    rehearsal.hears("creating Release")
    assert rehearsal.ends(signal.SIGKILL, 30) == -signal.SIGKILL
    assert {"etcd", "kube-apiserver"} <= set(rehearsal.left())
    leftovers.sweep(cache / "rackwright" / "control-planes")
    assert rehearsal.left() == []


def test_an_engine_that_dies_is_told(cache):
    rehearsal = Rehearsal(cache, SITE)
    rehearsal.hears("creating Release")
    for process in rehearsal.started("pulumi"):
        os.kill(process, signal.SIGKILL)
    assert rehearsal.ends(None, 30) == 1
    assert any("was ended by signal 9" in line for line in rehearsal.said)
    assert rehearsal.left() == []


def test_an_api_server_that_dies_is_told(cache):
    rehearsal = Rehearsal(cache, SITE)
    rehearsal.hears("creating Release")
    for process in rehearsal.started("kube-apiserver"):
        os.kill(process, signal.SIGKILL)
    assert rehearsal.ends(None, 30) == 1
    assert any(line.startswith("kube-apiserver, a program of the rehearsal's") for line in rehearsal.said)
    assert rehearsal.left() == []
