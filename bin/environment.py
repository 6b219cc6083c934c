"""The project's own Python environment: made on first use from the lock file, with the standard library alone."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from typing import IO

# Imported where they are needed, so that a command whose environment is there starts at once: fcntl, subprocess, venv.

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
PROJECT = ROOT / "pyproject.toml"
MARK = VENV / "installed-from"
OLDEST_PYTHON = (3, 11)
NICE = 5  # a third of the weight of 0


def fingerprint() -> str:
    """What the environment is made from: the lock, what is installed of the project, the interpreter, the folder."""
    import tomllib

    project = tomllib.loads(PROJECT.read_text())
    installed = (project["project"], project["build-system"], project["tool"]["hatch"])
    return "\0".join((sys.version, str(ROOT), repr(installed), LOCK.read_text()))


def installed() -> bool:
    """True where the environment was made whole from what the lock says now."""
    return MARK.is_file() and MARK.read_text() == fingerprint()


def pip(*arguments: str) -> None:
    """Run pip in the environment; its output is shown only when it fails."""
    import subprocess

    command = [str(VENV / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.stderr.write(result.stdout + result.stderr)
        sys.exit(
            "rackwright: the packages of requirements.lock could not be installed; the lines above say why. "
            "Mend that (network, disk, Python) and run the same command again."
        )


def ensure() -> None:
    """Make the environment if it is missing or older than the lock; two commands at once wait for each other."""
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(
            f"rackwright: Python {'.'.join(map(str, sys.version_info[:2]))} is too old; run it with 3.11 or newer."
        )
    if installed():
        return
    import fcntl
    import venv

    with (ROOT / ".venv.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if installed():
            return
        print("rackwright: making the Python environment in .venv (about a minute, once)", file=sys.stderr)
        MARK.unlink(missing_ok=True)
        venv.create(VENV, with_pip=True, symlinks=True, clear=True)
        pip("install", "--require-hashes", "--no-deps", "-r", str(LOCK))
        pip("install", "--no-build-isolation", "--no-deps", "--editable", str(ROOT))
        MARK.write_text(fingerprint())


def run(program: str, *arguments: str, **variables: str) -> int:
    """Run a program of the environment in the foreground, with variables of its own, and return its exit code."""
    with start(program, *arguments, **variables) as process:
        return process.wait()


def start(
    program: str,
    *arguments: str,
    output: "IO[bytes] | None" = None,
    apart: bool = False,
    gives_way: bool = False,
    **variables: str,
) -> "subprocess.Popen[bytes]":
    """Start a program of the environment; all that it says goes to `output`, if one is given.

    One that runs `apart` gets a share of the processors like each other such, and who started it passes Ctrl-C on; one
    that `gives_way` gets a third of that.
    """
    import subprocess

    environment = os.environ | {"PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"} | variables
    errors = subprocess.STDOUT if output else None
    process = subprocess.Popen(
        [str(VENV / "bin" / program), *arguments],
        env=environment,
        stdout=output,
        stderr=errors,
        start_new_session=apart,
    )
    if gives_way:
        os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
        share = Path(f"/proc/{process.pid}/autogroup")  # a session's share, where the kernel has it so
        if share.exists():
            share.write_text(str(NICE))
    return process


def replace_with(program: str, *arguments: str) -> None:
    """Become a program of the environment, so that signals and exit codes are its own."""
    os.environ["PATH"] = f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    os.execv(VENV / "bin" / program, [program, *arguments])  # noqa: S606 - no shell is wanted
