"""Two operators: the second one is told who is at it; who died holds nothing."""

import os
import signal
import subprocess
import threading
import time

import pytest

from rackwright.errors import Refusal
from rackwright.rollout.commands import run
from rackwright.rollout.lock import FILE_NAME, held, holder, kept


@pytest.fixture
def other(tmp_path):
    """Another process that holds the lock until it is killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with held(tmp_path):
            os.write(writer, b"held")
            signal.pause()
        os._exit(0)
    assert os.read(reader, 4) == b"held"
    yield child
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
    os.close(reader)
    os.close(writer)


def test_a_second_operator_is_told_who_where_and_since_when(other, tmp_path):
    with pytest.raises(Refusal) as refused, held(tmp_path):
        pass
    assert f"(process {other}, since 20" in refused.value.what
    assert os.uname().nodename in refused.value.what
    assert f"process {other}" in holder(tmp_path)


def test_who_died_is_named_and_holds_nothing(other, tmp_path):
    os.kill(other, signal.SIGKILL)
    os.waitpid(other, 0)
    assert holder(tmp_path) == ""
    with held(tmp_path) as died:
        assert f"process {other}" in died
        assert f"process {os.getpid()}" in holder(tmp_path)
    with held(tmp_path) as died:
        assert died == ""


def test_what_a_killed_one_started_still_holds_it(tmp_path):
    """Pulumi and Ansible work on where the command that started them is killed: nobody begins beside them."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with held(tmp_path):
            words = f"echo $$ >/dev/fd/{writer}; exec sleep 60"
            threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
            subprocess.run(["sh", "-c", words], pass_fds=(*kept(), writer), check=False)
        os._exit(0)
    left = int(os.read(reader, 16))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    try:
        with pytest.raises(Refusal, match="or what it started still does"), held(tmp_path):
            pass
        assert f"process {child}" in holder(tmp_path)
    finally:
        os.kill(left, signal.SIGKILL)
    os.close(reader)
    os.close(writer)
    for _ in range(100):
        if not holder(tmp_path):
            break
        time.sleep(0.05)
    with held(tmp_path) as died:
        assert f"process {child}" in died
    assert kept() == ()


def test_programs_of_a_rollout_are_given_the_lock(tmp_path):
    with held(tmp_path):
        (descriptor,) = kept()
        seen = run(["readlink", f"/proc/self/fd/{descriptor}"], tmp_path)
        assert seen.strip() == str(tmp_path / FILE_NAME)


def test_asking_who_holds_it_keeps_nobody_out(tmp_path):
    for _ in range(50):
        child = os.fork()
        if child == 0:
            holder(tmp_path)
            os._exit(0)
        with held(tmp_path):
            pass
        os.waitpid(child, 0)


def test_a_fault_lets_go_of_it_in_order(tmp_path):
    with pytest.raises(ZeroDivisionError), held(tmp_path):
        raise ZeroDivisionError
    with held(tmp_path) as died:
        assert died == ""


@pytest.mark.parametrize(
    ("put", "why"),
    [
        (os.mkfifo, "it is no plain file"),
        (os.mkdir, "Is a directory"),
        (lambda file: os.symlink("/nowhere", file), "it is a link"),  # noqa: PTH211 - as the others, by a path
    ],
)
def test_what_is_no_plain_file_in_its_place_is_refused_and_not_waited_for(tmp_path, put, why):
    put(tmp_path / FILE_NAME)
    assert holder(tmp_path) == ""
    with pytest.raises(Refusal, match=why), held(tmp_path):
        pass
