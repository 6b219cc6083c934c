"""However a command ends, it ends with a sentence and a code."""

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest
from waiting import PATIENCE_S, until

import rackwright.cli
from rackwright.cli import main

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = str(Path(os.sys.executable).with_name("rackwright"))


@pytest.fixture
def waiting(lab, variables):
    """A command that waits at a terminal for a secret that only its user has."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "secrets", "init", lab], stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=variables, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    said = ""
    while "s3_access_key (" not in said:
        letter = process.stderr.read(1)
        assert letter, f"it ended before it asked: {said}"
        said += letter
    yield process
    process.kill()
    process.communicate()
    os.close(leader)


def sleeps(process):
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 130, "Stopped.\n"), (signal.SIGTERM, 143, ""), (signal.SIGHUP, 129, "")],
)
def test_a_signal_ends_it_without_a_vault_and_without_a_trace(waiting, lab, number, code, said):
    until(lambda: sleeps(waiting))  # it reads: Python hears a signal that comes just before at the next key
    waiting.send_signal(number)
    _, stderr = waiting.communicate(timeout=PATIENCE_S)
    assert waiting.returncode == code
    assert stderr.endswith(said)
    assert "Traceback" not in stderr
    assert not list((lab / "group_vars" / "all").iterdir())


@pytest.fixture
def ended(variables):
    """Run the command with streams of the test's own; gives its exit code and what stderr said."""

    def run(*arguments, **streams):
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE} | streams
        result = subprocess.run([PROGRAM, *arguments], cwd=ROOT, env=variables, text=True, check=False, **streams)
        return result.returncode, result.stderr

    return run


@pytest.fixture
def nobody():
    """A pipe that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


def test_a_reader_who_left_ends_it_quietly(ended, nobody, broken):
    assert ended("schema", stdout=nobody) == (141, "")
    assert ended("validate", broken, "--json", stdout=nobody) == (141, "")
    assert ended("validate", broken, stderr=nobody) == (141, None)


def test_an_output_that_is_full_is_told(ended, broken):
    said = "The output cannot be written (No space left on device).\nWrite it elsewhere.\n"
    with Path("/dev/full").open("w") as full:
        assert ended("schema", stdout=full) == (1, said)
        assert ended("validate", broken, "--json", stdout=full) == (1, said)
        assert ended("validate", broken, stdout=full, stderr=full) == (1, None)


def test_a_terminal_without_umlauts_is_no_fault(ended, lab, variables):
    variables["PYTHONIOENCODING"] = "ascii"
    folder = lab.rename(lab.with_name("höhle"))
    code, said = ended("secrets", "check", folder)
    assert code == 1
    assert "h\\xf6hle" in said


class TestAFaultOfOurOwn:
    @pytest.fixture(autouse=True)
    def _fault(self, monkeypatch):
        def fail(_):
            raise ValueError("g7Kp2wQz9Lm4canary")

        monkeypatch.setattr(rackwright.cli, "_run", fail)
        monkeypatch.setattr(signal, "signal", lambda *_: None)

    def test_is_one_sentence_without_what_was_at_hand(self, capsys, monkeypatch):
        monkeypatch.delenv("RACKWRIGHT_TRACEBACK", raising=False)
        with pytest.raises(SystemExit) as ended:
            main()
        stderr = capsys.readouterr().err
        assert ended.value.code == 70
        assert "Rackwright has a fault of its own: ValueError at " in stderr
        assert "canary" not in stderr
        assert "Traceback" not in stderr

    def test_shows_its_traceback_to_those_who_ask(self, capsys, monkeypatch):
        monkeypatch.setenv("RACKWRIGHT_TRACEBACK", "1")
        with pytest.raises(SystemExit):
            main()
        assert "Traceback" in capsys.readouterr().err
