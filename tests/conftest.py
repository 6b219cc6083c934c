"""What every test may ask for."""

import os
import signal
import sys
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

from rackwright.errors import Refusal
from rackwright.guests import image, namespace, needs
from rackwright.sandbox import tools
from rackwright.sandbox.control_plane import ControlPlane

# The same examples on every machine; others are looked for with --hypothesis-profile=default.
settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.load_profile("same")

# A shell that starts the tests in the background lets them ignore these, and every program that a test interrupts
# would inherit that.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

# Go's programs, of which tests start thousands, collect garbage a quarter as often; the largest keep to 1 GiB for it.
os.environ.setdefault("GOGC", "400")
os.environ.setdefault("GOMEMLIMIT", "1GiB")

# Each run would compile hundreds of modules anew where the shell forbids to keep them; what tests start is left alone.
sys.dont_write_bytecode = False


@pytest.fixture(scope="session")
def say(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Tell the person who waits, whom pytest would otherwise keep in the dark."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def aloud(line: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"\n{line}", end="", flush=True)  # noqa: T201 - a person waits for it

    return aloud


@pytest.fixture(scope="session")
def toolbox(say: Callable[[str], None]) -> tools.Toolbox:
    """Every program of a rehearsal; on a machine that has none of them, building them takes about 20 minutes."""
    return tools.ensure(tools.REHEARSAL, say)


@pytest.fixture(scope="session")
def control_plane(toolbox: tools.Toolbox, say: Callable[[str], None]) -> Iterator[ControlPlane]:
    """One real control plane for all tests: each takes names of its own in it."""
    with ControlPlane(toolbox, progress=say) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def _guests_can_boot(say: Callable[[str], None]) -> None:
    """Skip, and say why, on a machine that cannot boot guests."""
    try:
        needs.demand_to_boot()
        namespace.demand()
        image.ensure(say)
    except Refusal as refusal:
        say(f"NO GUEST WAS BOOTED: {refusal}")
        pytest.skip(f"no guest can be booted here: {refusal}")
