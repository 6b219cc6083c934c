"""The container toolkit's packages by system."""

from driver_bench import CATALOG, DEBIAN, ROCKY

from rackwright.metal.toolkit import PACKAGES, container_toolkit

VERSION = CATALOG.packages["nvidia-container-toolkit"]


def test_four_packages_at_one_version():
    for system, word in ((DEBIAN, "libnvidia-container1={}-*"), (ROCKY, "libnvidia-container1-{}")):
        toolkit = container_toolkit(system, CATALOG)
        assert toolkit.packages == PACKAGES
        assert len(toolkit.transaction) == 4
        assert word.format(VERSION) in toolkit.transaction
        assert toolkit.version == VERSION


def test_its_repository_is_the_systems():
    assert container_toolkit(DEBIAN, CATALOG).repository.address.endswith("/stable/deb/amd64/")
    assert container_toolkit(ROCKY, CATALOG).repository.address.endswith("/stable/rpm/x86_64/")
    assert container_toolkit(ROCKY, CATALOG).package_system == "dnf"
