"""Programs that a rollout starts, told to the end: while one of them works, the rollout is held, whoever began it."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.rollout.lock import kept

WORDS = 400


class SaysNo(Refusal):
    """A program that ended with a fault; `said` is all that it said."""

    def __init__(self, command: Sequence[str], said: str) -> None:
        self.said = said
        super().__init__(f"{' '.join(command[:3])} says no: {_fault(said)}.", "Mend that; the same command goes on.")


def run(
    command: Sequence[str],
    at: Path,
    environment: Mapping[str, str] | None = None,
    patience_s: float | None = None,
    given: str = "",
) -> str:
    """What it prints, `given` something to read; SaysNo where it ends with a fault, Refusal where it does not end."""
    try:
        done = subprocess.run(
            command,
            cwd=at,
            env=environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=patience_s,
            check=False,
            pass_fds=kept(),  # where this process is killed, its work goes on, and nobody may begin beside it
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refusal(f"{command[0]} does not answer ({type(error).__name__}).", "Run it by hand once.") from None
    if done.returncode:
        raise SaysNo(command, f"{done.stdout}\n{done.stderr}")
    return done.stdout


def _fault(said: str) -> str:
    """From the first fault that a program tells, else its last words."""
    words = " ".join(said.split()).rstrip(".")
    return words[words.index("error: ") + 7 :][:WORDS] if "error: " in words else words[-WORDS:]
