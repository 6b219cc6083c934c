"""However a command ends, it ends with a sentence and a code."""

import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest

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
    until = time.monotonic() + 30
    while time.monotonic() < until and not (lab / ".vault-password").exists():
        time.sleep(0.05)
    time.sleep(1)
    yield process
    process.kill()
    process.communicate()
    os.close(leader)


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 130, "Stopped.\n"), (signal.SIGTERM, 143, ""), (signal.SIGHUP, 129, "")],
)
def test_a_signal_ends_it_without_a_vault_and_without_a_trace(waiting, lab, number, code, said):
    assert waiting.poll() is None
    waiting.send_signal(number)
    _, stderr = waiting.communicate(timeout=20)
    assert waiting.returncode == code
    assert stderr.endswith(said)
    assert "Traceback" not in stderr
    assert not list((lab / "group_vars" / "all").iterdir())


def test_a_reader_who_left_ends_it_quietly(variables):
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [PROGRAM, "schema"], cwd=ROOT, env=variables, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert result.returncode == 141
    assert result.stderr == ""


def test_an_output_that_is_full_is_told(variables):
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [PROGRAM, "schema"], cwd=ROOT, env=variables, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 1
    assert result.stderr == "The output cannot be written (No space left on device).\nWrite it elsewhere.\n"


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
