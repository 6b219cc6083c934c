"""Which packages, repository and services a host's driver consists of."""

from fnmatch import fnmatchcase

import pytest
from driver_bench import B200, CATALOG, DEBIAN, H100, L40S, ROCKY, UBUNTU, wanted

from rackwright.errors import Refusal
from rackwright.metal.driver import OF_THE_DRIVER, driver
from rackwright.site.gpu import Gpu
from rackwright.site.operating_system import SUPPORTED, OperatingSystem

NAMES = {
    ("debian", "open"): "nvidia-kernel-open-dkms",
    ("debian", "proprietary"): "nvidia-kernel-dkms",
    ("rocky", "open"): "kmod-nvidia-open-dkms",
    ("rocky", "proprietary"): "kmod-nvidia-latest-dkms",
}


@pytest.mark.parametrize("flavour", ["open", "proprietary"])
@pytest.mark.parametrize("system", [DEBIAN, ROCKY], ids=lambda system: system.name)
def test_the_module_is_the_sites(system, flavour):
    assert wanted(L40S, system, driver_flavour=flavour).packages[0] == NAMES[system.name, flavour]


def test_nvidias_packages_for_ubuntu_lose_the_branch_in_their_names():
    assert {"nvidia-dkms-580-open", "libnvidia-compute-580", "nvidia-utils-580"} <= set(wanted(L40S, UBUNTU).packages)
    assert set(wanted(L40S, UBUNTU, 595).packages) == {"nvidia-dkms-open", "libnvidia-compute", "nvidia-persistenced"}


def test_only_nvswitches_bring_a_fabric_manager():
    assert "nvidia-fabricmanager" in wanted(H100).packages
    assert wanted(H100).services == ("nvidia-persistenced", "nvidia-fabricmanager")
    assert not any("fabric" in name for name in (*wanted(L40S).packages, *wanted(L40S).services))
    assert not wanted(L40S).has_fabric


def test_nvlink_5_is_managed_over_infiniband():
    blackwell = wanted(B200, UBUNTU, 595)
    assert blackwell.companions == ("nvlsm",)
    assert blackwell.modules == ("ib_umad",)
    assert "libnvsdm" in blackwell.packages
    assert "linux-modules-extra-{kernel}" in blackwell.building
    assert not wanted(H100).companions
    assert not wanted(H100).modules


def test_ubuntus_signed_modules_need_no_compiler():
    signed = wanted(H100, UBUNTU, driver_source="distribution")
    assert signed.building == ("linux-modules-nvidia-580-server-open-{kernel}",)
    assert "nvidia-fabricmanager-580" in signed.packages
    assert signed.repository is None
    assert not any("dkms" in name and "no-dkms" not in name for name in signed.packages)


@pytest.mark.parametrize("gpus", [H100, B200, L40S], ids=lambda gpus: gpus.product)
@pytest.mark.parametrize("system", [(name, each) for name, releases in SUPPORTED.items() for each in releases])
@pytest.mark.parametrize("branch", sorted(CATALOG.drivers))
def test_whatever_is_installed_is_known_to_be_of_the_driver(gpus, system, branch):
    found = wanted(gpus, OperatingSystem(name=system[0], release=system[1]), branch)
    for name in found.packages:
        assert any(fnmatchcase(name, pattern) for pattern in found.family), name
    assert found.version == CATALOG.drivers[branch].version
    folder = "rhel9" if system[0] in {"rocky", "rhel"} else "".join(system).replace(".", "")
    assert f"/{folder}/x86_64/" in found.repository.address
    assert found.repository.key.startswith(found.repository.address)
    assert found.stream == (f"nvidia-driver:{branch}-open" if folder == "rhel9" else "")


@pytest.mark.parametrize(
    "name",
    ["nvidia-container-toolkit", "libnvidia-container1", "libnvidia-container-tools", "nvidia-container-toolkit-base",
     "nvidia-driver-pinning-595", "libnvidia-egl-wayland1", "nvlsm", "linux-headers-6.8.0-85-generic"],
)  # fmt: skip
def test_what_has_a_version_of_its_own_is_not_of_the_driver(name):
    assert not any(fnmatchcase(name, pattern) for pattern in OF_THE_DRIVER)


def test_a_branch_that_nobody_pinned_is_refused():
    with pytest.raises(Refusal, match="no driver of branch 590"):
        driver(H100, Gpu(driver_branch=590), DEBIAN, CATALOG)
