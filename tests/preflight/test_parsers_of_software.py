"""Words of package systems, services and drivers as machines really say them."""

import pytest
from fleet import said

from rackwright.preflight.answers import Gpus, Packages, Said
from rackwright.preflight.parsers import driver, packages, units
from rackwright.preflight.seen import NotSeen

MISSING = Said(code=127, out="", error="x is not installed")


POLICY = """\
linux-headers-6.8.0-85-generic:
  Installed: (none)
  Candidate: 6.8.0-85.85
  Version table:
     6.8.0-85.85 500
        500 http://archive.ubuntu.com/ubuntu noble-updates/main amd64 Packages
        500 http://security.ubuntu.com/ubuntu noble-security/main amd64 Packages
nvidia-open:
  Installed: (none)
  Candidate: (none)
  Version table:
gcc:
  Installed: 4:13.2.0-7ubuntu1
  Candidate: 4:13.2.0-7ubuntu1
  Version table:
 *** 4:13.2.0-7ubuntu1 100
        100 /var/lib/dpkg/status
held-back:
  Installed: (none)
  Candidate: 1.0
  Version table:
     1.0 100
        100 /var/lib/dpkg/status
"""


def test_what_apt_offers():
    found = packages.offered(Packages(system="apt", offered=said(POLICY)))
    assert found == {"linux-headers-6.8.0-85-generic", "gcc"}
    with pytest.raises(NotSeen, match="Could not resolve"):
        packages.offered(Packages(system="apt", offered=said("", 100, "E: Could not resolve 'archive.ubuntu.com'")))


def test_what_dnf_offers_by_name_and_by_version():
    words = "kernel-devel 5.14.0-570.42.2.el9_6.x86_64 appstream\ngcc 11.5.0-5.el9_5.x86_64 appstream\n\n"
    found = packages.offered(Packages(system="dnf", offered=said(words)))
    assert {"gcc", "kernel-devel", "kernel-devel-5.14.0-570.42.2.el9_6.x86_64"} <= found


def test_what_is_installed_and_held():
    words = (
        "ii  nvidia-open 580.173.02-1\n"
        "hi  gcc 4:13.2.0-7ubuntu1\n"
        "un  nvidia-legacy-check \n"
        "rc  nvidia-utils-535 535.1-1\n"
    )
    found = packages.installed(
        Packages(system="apt", installed=said(words, 1, "dpkg-query: no packages found matching x"))
    )
    assert set(found) == {"nvidia-open", "gcc"}
    assert found["gcc"].version == "13.2.0-7ubuntu1"
    assert found["nvidia-open"].is_of("580.173.02")
    assert not found["nvidia-open"].is_of("580.173.0")
    assert packages.held(Packages(system="apt", held=said("kubelet\nnvidia-open\n"))) == {"kubelet", "nvidia-open"}
    locks = (
        "\n"
        "# Added lock on Sat Nov 28 10:11:12 2026\n"
        "kubelet-0:1.36.3-150500.1.1.*\n"
        "!nvidia-driver-3:610.57.04-1.el9.*\n"
    )
    assert packages.held(Packages(system="dnf", held=said(locks))) == {"kubelet", "nvidia-driver"}
    assert packages.held(Packages(system="dnf", held=MISSING)) == frozenset()
    with pytest.raises(NotSeen):
        packages.held(Packages(system="apt", held=MISSING))


def test_units():
    words = (
        "Id=docker.service\nLoadState=loaded\nActiveState=active\nUnitFileState=enabled\n\n"
        "Id=k3s.service\nLoadState=not-found\nActiveState=inactive\nUnitFileState=\n"
    )
    found = units.units(said(words))
    assert found["docker"] == ("docker", True, True, True)
    assert found["k3s"] == ("k3s", False, False, False)


def test_drivers():
    opened = (
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.173.02  Release Build  "
        "(dvs-builder@x)  Tue\n"
        "GCC version: x\n"
    )
    closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.309.01  Tue Feb 1 00:00:00 UTC 2026\n"
    assert driver.loaded_driver(Gpus(driver_version=opened)) == ("580.173.02", "open")
    assert driver.loaded_driver(Gpus(driver_version=closed)) == ("535.309.01", "proprietary")
    assert driver.loaded_driver(Gpus()) is None
    module = (
        "filename:       /lib/modules/x/nvidia.ko\n"
        "alias:          char-major-195-*\n"
        "version:        610.57.04\n"
        "license:        NVIDIA\n"
    )
    assert driver.built_driver(Gpus(module=said(module))) == ("610.57.04", "proprietary")
    assert driver.built_driver(Gpus(module=said("", 1, "modinfo: ERROR: Module nvidia not found."))) is None


def test_upgrades_by_themselves():
    on = 'APT::Periodic::Unattended-Upgrade "1";\nUnattended-Upgrade::Package-Blacklist:: "nvidia-";\n'
    assert driver.upgrades_by_itself(on)
    assert driver.kept_from_upgrades(on) == ("nvidia-",)
    assert not driver.upgrades_by_itself('APT::Periodic::Unattended-Upgrade "0";\n')
    assert driver.installs_by_itself("[commands]\napply_updates = yes\n")
    assert not driver.installs_by_itself("[commands]\napply_updates = no\n")
    assert driver.excluded_from_upgrades("[base]\nexcludepkgs = kernel* nvidia*\n") == ("kernel*", "nvidia*")
