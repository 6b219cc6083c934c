"""The one transaction: what apt is told, and what is not let through; with the real apt, over stand-in packages."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from driver_bench import CATALOG, H100, KERNEL, L40S, ROCKY, UBUNTU, installed, wanted

from rackwright.guests.stand_ins.deb import Deb, write_repository
from rackwright.guests.stand_ins.nvidia.distribution_packages import build_packages
from rackwright.guests.stand_ins.nvidia.driver_packages import driver_packages
from rackwright.guests.stand_ins.nvidia.kernel_module import kernel_module
from rackwright.guests.stand_ins.nvidia.repository import machine, write_repositories
from rackwright.metal.driver import driver as driver_of
from rackwright.metal.driver_found import Found, Package, not_offered
from rackwright.metal.driver_transaction import exchanged, is_complete, transaction, unwanted
from rackwright.site.catalog import Catalog
from rackwright.site.gpu import Gpu
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
needs_apt = pytest.mark.skipif(not shutil.which("apt-get"), reason="there is no apt here")


@dataclass
class Apt:
    """The real apt over a root of its own: it resolves, and installs nothing."""

    root: Path

    def run(self, *words):
        options = [
            "Dir=" + str(self.root), "Dir::State::status=" + str(self.root / "status"), "Debug::NoLocking=1",
            "APT::Sandbox::User=", "APT::Architecture=amd64", "Dir::Etc::trusted=/dev/null", "Dir::Log=/dev/null",
        ]  # fmt: skip
        command = [words[0], *(part for each in options for part in ("-o", each)), *words[1:]]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
        )

    def simulated(self, driver, found):
        words = transaction(driver, found)
        flags = ["--simulate", "-y", "--no-install-recommends", "--allow-change-held-packages", "--allow-downgrades"]
        return self.run("apt-get", *flags, "install", *words)

    def pin(self, driver):
        preferences = f"Package: {' '.join(driver.family)}\nPin: version {driver.version}-*\nPin-Priority: 1000\n"
        (self.root / "etc/apt/preferences.d/driver").write_text(preferences)

    def records(self, packages):
        """Let packages be installed, as dpkg's records have it."""
        stanzas = [
            package.control.replace("\nVersion:", "\nStatus: install ok installed\nVersion:")
            for package in (Deb("kmod", "1"), *packages)
        ]
        (self.root / "status").write_text("\n".join(stanzas))


@pytest.fixture(scope="module")
def repositories(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repositories")
    write_repositories(folder, CATALOG, [KERNEL])
    return folder


@pytest.fixture
def apt(repositories, tmp_path):
    for folder in (
        "etc/apt/preferences.d",
        "etc/apt/apt.conf.d",
        "var/lib/apt/lists/partial",
        "var/cache/apt/archives/partial",
    ):
        (tmp_path / folder).mkdir(parents=True)
    lines = (f"deb [trusted=yes] file:{repositories}/{name} ./\n" for name in ("nvidia", "distribution"))
    (tmp_path / "etc/apt/sources.list").write_text("".join(lines))
    apt = Apt(tmp_path)
    apt.records([])
    updated = apt.run("apt-get", "update")
    assert updated.returncode == 0, updated.stderr
    return apt


def found_by(apt, driver, packages=()):
    names = [name.replace("{kernel}", KERNEL) for name in (*driver.packages, *driver.companions, *driver.building)]
    said = apt.run("apt-cache", "madison", *names, *(each.name for each in packages)).stdout
    offers = {}
    for line in said.splitlines():
        name, version, _ = (part.strip() for part in line.split("|"))
        offers.setdefault(name, []).append(version)
    here = {each.name: Package(each.version, "installed") for each in packages}
    return Found(kernel=KERNEL, packages=here, offers={name: tuple(each) for name, each in offers.items()})


@needs_apt
@pytest.mark.parametrize("branch", sorted(CATALOG.drivers))
@pytest.mark.parametrize("flavour", ["open", "proprietary"])
def test_apt_installs_one_version_and_nothing_else(apt, branch, flavour):
    driver = wanted(H100, branch=branch, driver_flavour=flavour)
    apt.pin(driver)
    found = found_by(apt, driver)
    assert not_offered(driver, found) == []
    said = apt.simulated(driver, found)
    assert said.returncode == 0, said.stdout + said.stderr
    assert unwanted(driver, found, said.stdout, exchanges=False) == []
    assert f"Inst libnvidia-ml1 ({driver.version}-1 " in said.stdout  # a dependency without an exact version


@needs_apt
def test_without_the_pin_dependencies_are_of_the_newest_branch(apt):
    driver = wanted(L40S)
    found = found_by(apt, driver)
    said = apt.run("apt-get", "--simulate", "-y", "install", "nvidia-driver-cuda=580.173.02-*", "libcuda1=580.173.02-*",
                   "libnvidia-ptxjitcompiler1=580.173.02-*")  # fmt: skip
    assert unwanted(driver, found, said.stdout, exchanges=False)


@needs_apt
def test_another_branch_comes_in_one_transaction(apt):
    before, after = wanted(H100), wanted(H100, branch=595)
    here = [
        each
        for each in driver_packages(before.version)
        if each.name not in {"nvidia-kernel-dkms", "cuda-drivers", "nvidia-open"}
    ]

    apt.records([*here, *build_packages(KERNEL)])
    apt.pin(after)
    found = found_by(apt, after, here)
    assert not is_complete(after, found)
    said = apt.simulated(after, found)
    assert said.returncode == 0, said.stdout + said.stderr
    assert unwanted(after, found, said.stdout, exchanges=True) == []
    assert "Inst firmware-nvidia-gsp [580.173.02-1] (595.91.07-1 " in said.stdout


@needs_apt
def test_a_transitional_package_is_no_branch(apt):
    """Ubuntu's archive has nvidia-fabricmanager-590, which brings 595: to ask for 590 must not bring another branch."""
    catalog = CATALOG.model_dump(mode="json")
    catalog["drivers"] = {
        590: {"version": "590.48.01", "fabric_manager": "590.48.01", "flavours": ["open"], "families": ["hopper"]}
    }

    short_lived = driver_of(
        H100, Gpu(driver_branch=590, driver_source="distribution"), UBUNTU, Catalog.model_validate(catalog)
    )
    found = found_by(apt, short_lived)
    assert "nvidia-fabricmanager-590" in found.offers
    assert "nvidia-fabricmanager-590" in not_offered(short_lived, found)
    said = apt.run("apt-get", "--simulate", "-y", "install", "nvidia-fabricmanager-590")
    assert (
        "it would install nvidia-fabricmanager-595 595.91.07-0ubuntu0.24.04.1, which is not of 590.48.01"
        in unwanted(short_lived, found, said.stdout, exchanges=False)
    )


@needs_apt
@pytest.mark.parametrize("branch", sorted(CATALOG.drivers))
def test_ubuntus_packages_come_by_their_own_names(apt, branch):
    driver = wanted(H100, UBUNTU, branch, driver_source="distribution")
    apt.pin(driver)
    found = found_by(apt, driver)
    assert not_offered(driver, found) == []
    said = apt.simulated(driver, found)
    assert said.returncode == 0, said.stdout + said.stderr
    assert unwanted(driver, found, said.stdout, exchanges=False) == []


def test_names_that_bear_the_old_branch_go():
    before, after = wanted(L40S, UBUNTU), wanted(L40S, UBUNTU, 595)
    found = installed(before)
    assert set(exchanged(after, found)) == {"nvidia-dkms-580-open-", "libnvidia-compute-580-", "nvidia-utils-580-"}
    assert "nvidia-persistenced=595.91.07-*" in transaction(after, found)


def test_what_the_new_version_has_comes_along():
    found = Found(
        kernel=KERNEL,
        packages={"libcudadebugger1": Package("580.173.02-1", "installed")},
        offers={"libcudadebugger1": ("595.91.07-1",)},
    )
    assert exchanged(wanted(branch=595), found) == ["libcudadebugger1=595.91.07-*"]


def test_dnf_is_told_names_with_versions():
    words = transaction(wanted(H100, ROCKY), Found(kernel=KERNEL, packages={}))
    assert words[0] == "kmod-nvidia-open-dkms-580.173.02"
    assert "nvidia-fabricmanager-580.173.02" in words


def test_nothing_is_removed_that_nobody_named():
    simulation = "Remv k3s-selinux [1]\nInst libcuda1:amd64 (580.173.02-1 NVIDIA:1 [all])\n"
    assert unwanted(wanted(), Found(kernel=KERNEL, packages={}), simulation, exchanges=False) == [
        "it would remove k3s-selinux"
    ]


def test_a_driver_that_would_stay_behind_is_named():
    before = installed(wanted())
    said = unwanted(wanted(branch=595), before, "", exchanges=True)
    assert "it would leave libcuda1 580.173.02-1" in said


def test_a_converged_host_asks_for_nothing():
    assert is_complete(wanted(), installed(wanted()))


def test_the_stand_in_shows_the_sites_gpus():
    site = Site.load(ROOT / "inventory" / "example")
    shown = json.loads(machine(site.hosts[0]))
    assert shown == {"gpus": 8, "name": "NVIDIA H100 80GB HBM3", "memory_mib": 81559, "fabric": "nvswitch"}


@pytest.mark.skipif(not shutil.which("modinfo"), reason="there is no modinfo here")
def test_modinfo_reads_the_stand_in_module(tmp_path):
    file = tmp_path / "nvidia.ko"
    file.write_bytes(kernel_module("580.173.02", "open"))
    said = subprocess.run(["modinfo", "-F", "version", file], capture_output=True, text=True, check=True).stdout
    assert said == "580.173.02\n"


def test_a_repository_is_the_same_bytes_each_time(tmp_path):
    for name in ("one", "two"):
        write_repository(tmp_path / name, driver_packages("580.173.02"), "NVIDIA (stand-in)")
    files = {file.name: file.read_bytes() for file in (tmp_path / "one").iterdir()}
    assert files == {file.name: file.read_bytes() for file in (tmp_path / "two").iterdir()}
