"""Whatever surrounds a command (closed streams, names too long, folders that are shut), it ends with a sentence."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from waiting import PATIENCE_S

from rackwright.cli import main, options
from rackwright.errors import Refusal

PROGRAM = Path(sys.executable).with_name("rackwright")


@pytest.fixture
def shell(variables, lab):
    """Run a line of a shell in which `rackwright` is ours and $LAB the sample."""

    def run(line):
        own = variables | {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "LAB": str(lab)}
        return subprocess.run(["sh", "-c", line], env=own, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("line", ["rackwright validate $LAB >&-", "rackwright --help >&-", "rackwright schema <&- >&-"])
def test_an_output_that_is_closed_is_told(shell, line):
    result = shell(line)
    assert result.stderr == "The output cannot be written (Bad file descriptor).\nWrite it elsewhere.\n"
    assert result.returncode == 1


def test_help_into_a_full_disk_is_told(shell):
    result = shell("rackwright --help >/dev/full")
    assert "(No space left on device).\n" in result.stderr
    assert "fault of its own" not in result.stderr
    assert result.returncode == 1


def test_nobody_hears_stderr_and_the_code_is_the_same(shell):
    assert shell("rackwright validate $LAB 2>&-").returncode == 0
    assert shell("rackwright validate nowhere <&- >&- 2>&-").returncode == 2


def test_an_input_that_is_closed_is_empty(shell):
    result = shell("rackwright secrets init $LAB --stdin <&-")
    assert result.returncode == 1
    assert "still missing" in result.stderr


def test_a_name_that_is_too_long_is_told(rackwright):
    result = rackwright("validate", "a" * 5000)
    assert result.returncode == 1
    assert result.stderr.startswith(f"'{'a' * 56}... cannot be read (File name too long).")


def test_a_folder_that_may_not_be_entered_is_told(lab, monkeypatch):
    def shut(_):
        raise PermissionError(13, "Permission denied", "site.yml")

    monkeypatch.setattr(Path, "is_file", shut)
    with pytest.raises(Refusal, match=r"cannot be read \(Permission denied\)"):
        options.find_site(str(lab))


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda file: file.symlink_to("nowhere")])
def test_what_is_there_and_no_file_is_told(lab, rackwright, make):
    (lab / "site.yml").unlink()
    make(lab / "site.yml")
    result = rackwright("validate", lab)
    assert result.returncode == 2
    assert "site.yml is no file, or a link that leads to none" in result.stderr


def test_what_the_system_refuses_is_a_sentence_and_no_fault_of_ours(monkeypatch, capsys):
    import rackwright.cli.application  # noqa: PLC0415 - where the command is looked up

    def fail(*_arguments, **_options):
        raise PermissionError(13, "Permission denied", "/var/somewhere")

    monkeypatch.setattr(rackwright.cli.application, "application", fail)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("/var/somewhere cannot be used (Permission denied).\n")


def test_a_second_signal_does_not_cut_the_ending_short(lab, vault, variables, tmp_path):
    vault.password_file.write_text("#!/bin/sh\nexec sleep 5\n")
    vault.password_file.chmod(0o700)
    said = tmp_path / "said"
    with said.open("w") as stderr:
        process = subprocess.Popen([PROGRAM, "secrets", "check", lab], env=variables, stderr=stderr)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not children.read_text():
            time.sleep(0.05)
        for _ in range(3):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.02)
        code = process.wait(PATIENCE_S)
    assert code in (143, -signal.SIGTERM)  # once all is closed, the interpreter takes its handlers back
    assert "Traceback" not in said.read_text()
