"""The command line: parses, calls one function, prints.

Exit codes: 0 done, 1 the site or the cluster says no, 2 wrong usage, 130 interrupted.
"""

import os
import signal
import sys
import traceback
from types import FrameType
from typing import NoReturn

from rackwright.errors import Refusal

INTERRUPTED = 130
OWN_FAULT = 70  # EX_SOFTWARE: neither the site's nor the user's
TRACEBACK = "RACKWRIGHT_TRACEBACK"


def main() -> NoReturn:
    """The process: one command, one exit code, never a traceback."""
    _fill_closed_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup has it ignored
            signal.signal(number, _end)
    try:
        code = _run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last door: what comes here is a fault of ours, and is said so
        code = _own_fault(error)
    if code == INTERRUPTED:
        sys.stderr.write("Stopped.\n")
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    import typer

    from rackwright.cli.application import application
    from rackwright.cli.output import Output

    output = Output()
    try:
        return application(arguments, prog_name="rackwright", obj=output, standalone_mode=False) or 0
    except Refusal as refusal:
        return output.refuse(refusal)
    except typer.Abort:
        return INTERRUPTED
    except typer.TyperException as error:
        return output.refuse_usage(error)
    except OSError as error:
        if os.environ.get(TRACEBACK):
            traceback.print_exception(error)
        output.flush()  # where it is the output that fails, this says so and ends
        return output.refuse(_of_the_system(error))


def _of_the_system(error: OSError) -> Refusal:
    """What the system has against a file or a program that no command speaks of itself."""
    what = error.filename if error.filename is not None else "Something that the command needs"
    reason = error.strerror or str(error)
    return Refusal(f"{what} cannot be used ({reason}).", "Mend that (name, owner, mode, space), then run it again.")


def _fill_closed_streams() -> None:
    """Give what was closed (`>&-`) something that ends or refuses at once, before a file gets its number."""
    for number, name, flags in (
        (0, "stdin", os.O_RDONLY),
        (1, "stdout", os.O_RDONLY),  # what is written to it is told as lost
        (2, "stderr", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    """Let everything that is open close before a signal ends the process; the same again does not cut that short."""
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, lambda *_: None)  # programs that are started yet do not inherit it, as they would SIG_IGN
    sys.exit(128 + number)


def _own_fault(error: Exception) -> int:
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = next((frame for frame in reversed(frames) if f"{os.sep}rackwright{os.sep}" in frame.filename), frames[-1])
    sys.stderr.write(
        f"Rackwright has a fault of its own: {type(error).__name__} at {place.filename}:{place.lineno}.\n"
        f"Run the same with {TRACEBACK}=1 and report what it prints, without your secrets, where you got Rackwright.\n"
    )
    return OWN_FAULT
