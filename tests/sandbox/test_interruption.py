"""Endings that wait until something is finished."""

import os
import signal
import threading
import time

import pytest

from rackwright.errors import Refusal
from rackwright.sandbox.endings import ended_well
from rackwright.sandbox.interruption import ENDINGS, postponed


@pytest.fixture
def _another_thread():
    """One to which the system may give a signal as well."""
    ends = threading.Event()
    threading.Thread(target=ends.wait, daemon=True).start()
    yield
    ends.set()


def interrupted(finished):
    with postponed():
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)  # in which one that is not held back would be heard
        finished.append(True)


@pytest.mark.usefixtures("_another_thread")
def test_an_ending_waits_whichever_thread_the_system_gives_it_to():
    finished = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(finished)
    assert finished


@pytest.mark.parametrize("others", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)])
@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_the_first_ending_counts_and_no_other_cuts_the_clearing_short(first, others):
    before, cleared = [signal.getsignal(number) for number in ENDINGS], []

    def work():
        try:
            os.kill(os.getpid(), first)
            time.sleep(60)
        finally:
            for number in others:
                os.kill(os.getpid(), number)
            time.sleep(0.1)  # in which one that counts would be heard
            cleared.append(True)

    with pytest.raises(Refusal, match="was interrupted"), ended_well(), ended_well():  # guests' within the rollout's
        work()
    assert cleared
    assert [signal.getsignal(number) for number in ENDINGS] == before


def test_what_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with postponed():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_in_another_thread_nothing_is_held_back():
    seen = []

    def work():
        with postponed():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
