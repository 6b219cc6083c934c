"""What is said of hosts that have something already."""

import pytest
from driver_bench import B200, DEBIAN, H100, KERNEL, L40S, UBUNTU, installed, wanted, working

from rackwright.metal.driver_found import (
    Found,
    Package,
    faults,
    foreign,
    holds,
    missing,
    not_offered,
    refusals,
    why_reboot,
)

FRESH = Found(kernel=KERNEL, packages={})


def with_package(found, name, version, state="installed"):
    return Found(**{**vars(found), "packages": {**found.packages, name: Package(version, state)}})


def test_a_fresh_host_may_have_its_driver():
    assert refusals(wanted(), FRESH) == []
    assert missing(wanted(), FRESH)[0] == "nvidia-kernel-open-dkms"
    assert f"linux-headers-{KERNEL}" in missing(wanted(), FRESH)


def test_our_own_driver_of_another_version_is_left_to_the_upgrade():
    (said,) = refusals(wanted(branch=595), installed(wanted()))
    assert "580.173.02-1" in said
    assert "595.91.07" in said
    assert "playbooks/upgrade.yml" in said


def test_somebody_elses_driver_is_theirs_to_purge():
    found = with_package(FRESH, "nvidia-driver-550-server", "550.163.01-0ubuntu1")
    (said,) = refusals(wanted(system=UBUNTU), found)
    assert "apt-get purge nvidia-driver-550-server" in said


def test_a_runfile_driver_is_refused():
    (said,) = refusals(wanted(), Found(kernel=KERNEL, packages={}, runfile=("/usr/bin/nvidia-uninstall",)))
    assert "nvidia-uninstall" in said


@pytest.mark.parametrize(
    "version", ["580.173.02-1", "1:580.173.02-1ubuntu1", "580.173.02-0ubuntu0.24.04.1", "580.173.02"]
)
def test_whatever_revision_a_packager_gave_it_is_the_same_driver(version):
    found = with_package(FRESH, "libcuda1", version)
    assert foreign(wanted(), found) == {}


@pytest.mark.parametrize("version", ["580.173.021-1", "580.178.04-1", "595.91.07-1"])
def test_another_driver_is_another_one_to_the_last_digit(version):
    assert "libcuda1" in foreign(wanted(), with_package(FRESH, "libcuda1", version))


def test_a_package_that_stopped_on_the_way_is_missing():
    found = with_package(installed(wanted()), "libcuda1", "580.173.02-1", "half")
    assert missing(wanted(), found) == ["libcuda1"]
    assert "libcuda1" not in holds(wanted(), found)


def test_an_offer_of_another_version_is_none():
    driver = wanted(L40S)
    offers = {name.replace("{kernel}", KERNEL): ("580.173.02-1",) for name in (*driver.packages, *driver.building)}
    assert not_offered(driver, Found(kernel=KERNEL, packages={}, offers=offers)) == []
    offers["libcuda1"] = ("595.91.07-1", "610.57.04-1")
    assert not_offered(driver, Found(kernel=KERNEL, packages={}, offers=offers)) == ["libcuda1"]
    del offers[f"linux-headers-{KERNEL}"]
    assert f"linux-headers-{KERNEL}" in not_offered(driver, Found(kernel=KERNEL, packages={}, offers=offers))


def test_what_came_along_is_held_too():
    found = with_package(
        installed(wanted(B200, UBUNTU, 595), held=("nvidia-dkms-open",)), "libnvidia-cfg1", "595.91.07-1"
    )
    to_hold = holds(wanted(B200, UBUNTU, 595), found)
    assert {"libnvidia-cfg1", "nvlsm", "nvidia-fabricmanager"} <= set(to_hold)
    assert "nvidia-dkms-open" not in to_hold
    assert "gcc" not in to_hold


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ({"nouveau": True}, "nouveau"),
        ({"loaded": "580.95.05"}, "580.95.05 is loaded"),
        ({"loaded": "", "smi_code": 18}, "not the one that is installed"),
        ({"loaded": "", "smi_code": 9}, "could not be loaded"),
        ({}, ""),
        ({"smi_code": 9}, ""),  # the right module is loaded: a reboot is no cure
        ({"smi_code": 15}, ""),
    ],
)
def test_a_reboot_is_for_a_reason(state, why):
    said = why_reboot(wanted(), working(wanted(), **state))
    assert why in said
    assert bool(said) == bool(why)


def test_a_working_driver_has_no_fault():
    for gpus in (H100, L40S):
        assert faults(wanted(gpus), working(wanted(gpus))) == []
    proprietary = wanted(L40S, driver_flavour="proprietary")
    assert faults(proprietary, working(proprietary)) == []


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"smi_code": 18, "smi_said": "Driver/library version mismatch"}, ("ends with 18", "mismatch")),
        ({"gpus": (("0", "580.173.02", "Enabled"),) * 7}, ("7 GPUs", "site says 8")),
        ({"gpus": (("0", "595.91.07", "Enabled"),) * 8}, ("driven by 595.91.07",)),
        ({"gpus": (("0", "580.173.02", "Disabled"),) * 8}, ("persistence mode Disabled",)),
        ({"module_version": "580.95.05"}, ("580.95.05", "dkms status")),
        ({"module_version": ""}, ("no version",)),
        ({"module_license": "NVIDIA"}, ("license NVIDIA", "open")),
        ({"fabric": ("In Progress",) * 8}, ("In Progress", "fabricmanager")),
        ({"fabric": ()}, ("no GPU says any",)),
    ],
)
def test_each_fault_is_named(state, words):
    said = " ".join(faults(wanted(system=DEBIAN), working(wanted(system=DEBIAN), **state)))
    for word in words:
        assert word in said


def test_a_fabric_manager_of_another_version_is_a_fault():
    found = with_package(working(wanted()), "nvidia-fabricmanager", "580.95.05-1")
    assert faults(wanted(), found) == ["nvidia-fabricmanager is of 580.95.05-1, not 580.173.02."]


def test_what_the_module_says_is_understood():
    answer = {
        "kernel": KERNEL,
        "packages": {"libcuda1": {"version": "580.173.02-1", "state": "installed"}},
        "offers": {"libcuda1": ["580.173.02-1"]},
        "gpus": [["0", "580.173.02", "Enabled"]],
        "interrupted": False,
        "stale_initramfs": True,
    }
    found = Found.understand(answer)
    assert found.packages["libcuda1"].is_of("580.173.02")
    assert found.gpus == (("0", "580.173.02", "Enabled"),)
