"""Booted guests for tests of roles and playbooks.

    def test_something(rack):
        machines = rack("lab", "gpu-01")               # boots it; gone at the end of the module
        gpu = machines["gpu-01"]
        machines.ansible("playbooks/provision.yml").demand()
        assert machines.ansible("playbooks/provision.yml").demand().stats["gpu-01"]["changed"] == 0
        gpu.reboot(); gpu.power_cut(); gpu.power_on()
        assert gpu.says("cat /sys/class/net/bond0/mtu") == "9000"

A site is a name below inventory/ or a folder. `machines.run([...])` runs a command where the guests are reached.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import kept_python
import pytest

from rackwright.guests.hardware import Size
from rackwright.guests.rack import Rack

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever boots a guest is marked, so that `-m "not guests"` leaves it out. Other racks are simulated."""
    for item in items:
        if item.path.is_relative_to(HERE) and "rack" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.guests)


@pytest.fixture(scope="session", autouse=True)
def _ansible() -> Iterator[None]:
    """Playbooks of tests find the roles, and a guest's Python is started once instead of for every task."""
    playbooks = ROOT / "playbooks"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ANSIBLE_ROLES_PATH", str(playbooks / "roles"))
        environment.setenv("ANSIBLE_FILTER_PLUGINS", str(playbooks / "filter_plugins"))
        for name, value in kept_python.settings().items():
            environment.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def rack(_guests_can_boot: None, say: Callable[[str], None]) -> Iterator[Callable[..., Rack]]:
    """Boots hosts of a site."""
    with ExitStack() as leaving:

        def boot(site: str | Path, *hosts: str, memory_mib: int = 2048, processors: int = 1) -> Rack:
            folder = site if isinstance(site, Path) else ROOT / "inventory" / site
            size = Size(memory_mib, processors)
            return leaving.enter_context(Rack(folder, hosts, size=size, progress=say))

        yield boot
