"""What a command says: results on stdout, progress and refusals on stderr, plain text or JSON."""

import dataclasses
import json
import os
import re
import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn, TextIO

import typer

from rackwright.errors import Refusal

BROKEN_PIPE = 141  # as a shell counts a process that SIGPIPE ended
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Output:
    """One command's output; `json` is set by the option of that name."""

    def __init__(self) -> None:
        self.json = False
        self.started = time.monotonic()

    def result(self, text: str, data: Mapping[str, Any]) -> None:
        """The answer, for people or as JSON."""
        self.text(json.dumps(data, indent=2) if self.json else text)

    def text(self, text: str) -> None:
        """Lines on stdout, whatever the form."""
        _write(sys.stdout, text)

    def progress(self, line: str) -> None:
        """What happens now, with the seconds since the command began, on stderr."""
        _write(sys.stderr, f"{time.monotonic() - self.started:6.1f} s  {line}")

    def note(self, line: str) -> None:
        """A remark beside the answer, on stderr."""
        _write(sys.stderr, line)

    def flush(self) -> None:
        """Write what a library put on stdout without looking whether it arrives."""
        _flush(sys.stdout)

    def refuse(self, refusal: Refusal) -> int:
        """Say what is wrong and the cure, and give the exit code."""
        if self.json:
            faults = [dataclasses.asdict(fault) for fault in getattr(refusal, "faults", ())]
            cure = "Mend each of the faults." if faults else refusal.cure
            self.text(json.dumps({"succeeded": False, "what": refusal.what, "cure": cure, "faults": faults}, indent=2))
        else:
            _write(sys.stderr, f"{refusal.what}\n{refusal.cure}")
        return 1

    def refuse_usage(self, error: typer.TyperException) -> int:
        """Say what is wrong with the command line and who knows better, and give the exit code."""
        context: typer.Context | None = getattr(error, "ctx", None)
        command = context.command_path if context else "rackwright"
        _write(sys.stderr, f"{error.format_message()}\n{command} --help says what it takes.")
        return error.exit_code


def _write(stream: TextIO, text: str) -> None:
    """Write a line or lines whole; ends the process where they cannot be written, quietly where the reader left."""
    plain = UNPRINTABLE.sub(lambda match: repr(match[0])[1:-1], f"{text}\n")
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(plain.encode(encoding, "backslashreplace").decode(encoding))
    except OSError as error:
        _lose(stream, error)
    _flush(stream)


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except OSError as error:
        _lose(stream, error)


def _lose(stream: TextIO, error: OSError) -> NoReturn:
    _discard(stream)
    if isinstance(error, BrokenPipeError):
        sys.exit(BROKEN_PIPE)
    if stream is not sys.stderr:
        _write(sys.stderr, f"The output cannot be written ({error.strerror}).\nWrite it elsewhere.")
    sys.exit(1)


def _discard(stream: TextIO) -> None:
    """Point a stream to nowhere, so that what is left in it does not fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
