"""Two operators: the second one is told who is at it; who died holds nothing."""

import os
import signal

import pytest

from rackwright.errors import Refusal
from rackwright.rollout.lock import FILE_NAME, held, holder


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
