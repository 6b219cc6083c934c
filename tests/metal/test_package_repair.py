"""Packages that were cut off, by the role's own module: a real dpkg and apt in a root of their own, and a real kill."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rackwright.guests.stand_ins.deb import Deb, File, write_repository

ROLE = Path(__file__).resolve().parents[2] / "playbooks/roles/packages"
sys.path.append(str(ROLE / "library"))

from package_repair import understood  # noqa: E402

PROGRAMS = ("dpkg", "apt-get", "dpkg-deb", "dpkg-query")
# Gives dpkg the first half of a package's files, and kills it then.
CUT = """#!/bin/sh
case "$1" in
  --fsys-tarfile) {program} "$@" | head --bytes=40000; kill -9 $PPID; sleep 1 ;;
  *) exec {program} "$@" ;;
esac
"""


def test_what_must_be_unpacked_again_is_told_from_what_is_only_to_be_set_up():
    said = (
        "iHR|half-installed|libcuda1\niU |unpacked|gcc-14\niiR|installed|chrony\nii |installed|libc6:amd64\n"
        "rc |config-files|nginx\n"
    )
    assert understood(said, was_writing=False) == (True, ["chrony", "libcuda1"])
    assert understood("iF |half-configured|mdadm\n", was_writing=False) == (True, [])
    assert understood("ii |installed|libc6:amd64\n", was_writing=False) == (False, [])
    assert understood("ii |installed|libc6:amd64\n", was_writing=True) == (True, [])


class System:
    """A folder that dpkg and apt take for a whole system; packages are written as they are needed."""

    forced = ("--force-not-root", "--force-script-chrootless")

    def __init__(self, folder: Path) -> None:
        self.root, self.offered, self.bin = folder / "root", folder / "offered", folder / "bin"
        self.records, self.packages = self.root / "var/lib/dpkg", []
        for each in (self.records / "updates", self.records / "info", self.offered, self.bin):
            each.mkdir(parents=True)
        for each in ("var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "etc/apt", "var/log/apt"):
            (self.root / each).mkdir(parents=True)
        for each in ("status", "available", "lock-frontend"):
            (self.records / each).touch()
        (self.root / "etc/apt/sources.list").write_text(f"deb [trusted=yes] file:{self.offered} ./\n")
        told = (f"--root={self.root}", f"--admindir={self.records}", *self.forced)
        options = "".join(f'DPkg::Options:: "{each}";\n' for each in told)
        (folder / "apt.conf").write_text(
            f'Dir "{self.root}";\nDir::State::status "{self.records}/status";\n'
            f'Dir::Bin::dpkg "{shutil.which("dpkg")}";\nAPT::Sandbox::User "root";\n{options}'
        )
        self.environment = {
            **os.environ,
            "DPKG_ROOT": str(self.root),
            "DPKG_ADMINDIR": str(self.records),
            "DPKG_FORCE": "not-root,script-chrootless",
            "APT_CONFIG": str(folder / "apt.conf"),
            "PATH": f"/usr/sbin:/usr/bin:/sbin:/bin:{os.environ['PATH']}",
        }

    def offer(self, name: str, version: str = "1.0", **relations: str) -> Path:
        """A package of many files, where apt finds it."""
        files = {f"/opt/{name}/file-{number}": File(f"{version}\n" * 1000) for number in range(40)}
        self.packages.append(Deb(name, version, relations, files))
        write_repository(self.offered, self.packages, "tests")
        self.run("apt-get", "update")
        return self.offered / self.packages[-1].file_name

    def cut(self, package: Path) -> None:
        """Begin to install a package, and be killed in the middle of its files."""
        program = self.bin / "dpkg-deb"
        program.write_text(CUT.format(program=shutil.which("dpkg-deb")))
        program.chmod(0o755)
        path = f"{self.bin}:{self.environment['PATH']}"
        ended = self.ask("dpkg", "--install", package, environment={**self.environment, "PATH": path})
        assert ended.returncode == -9, ended.stderr

    def ask(self, *command, environment=None):
        """A command's end, whatever it is."""
        environment = environment or self.environment
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def run(self, *command) -> str:
        """A command that must succeed."""
        done = self.ask(*command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def repair(self, *removed: str, checks: bool = False):
        """The module's answer."""
        given = {"ANSIBLE_MODULE_ARGS": {"removed": list(removed), "_ansible_check_mode": checks}}
        module = ROLE / "library/package_repair.py"
        done = subprocess.run(
            [sys.executable, module],
            input=json.dumps(given),
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return json.loads(done.stdout)

    def state(self, name: str) -> str:
        """A package's state and version, or nothing."""
        return self.ask("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", name).stdout


@pytest.fixture
def system(tmp_path):
    if lacking := [each for each in PROGRAMS if not shutil.which(each)]:
        pytest.skip(f"no packages can be cut off here: {', '.join(lacking)} is not there")
    return System(tmp_path)


def test_a_package_that_is_there_in_part_is_unpacked_again(system):
    system.cut(system.offer("chrony"))
    system.offer("xfsprogs")
    assert system.state("chrony").startswith("half-installed")
    assert "dpkg was interrupted" in system.ask("apt-get", "--yes", "install", "xfsprogs").stderr
    checked = system.repair(checks=True)
    assert (checked["changed"], checked["torn"]) == (True, ["chrony"])
    assert system.state("chrony").startswith("half-installed")
    assert system.repair()["changed"]
    assert system.state("chrony") == "installed 1.0"
    assert (system.root / "opt/chrony/file-39").is_file()
    system.run("apt-get", "--yes", "install", "xfsprogs")
    assert not system.repair()["changed"]


def test_one_that_was_exchanged_when_it_was_cut_off_is_unpacked_again_though_it_is_held(system):
    system.run("dpkg", "--install", system.offer("kubelet"))
    system.ask("apt-mark", "hold", "kubelet")
    system.cut(system.offer("kubelet", "2.0"))
    system.repair()
    assert system.state("kubelet") == "installed 2.0"
    assert (system.root / "opt/kubelet/file-0").read_text().startswith("2.0")


def test_one_of_the_drivers_is_taken_out_and_what_needs_it_waits(system):
    libraries = system.offer("libnvidia-a")
    system.run("dpkg", "--unpack", system.offer("chrony"))
    system.cut(libraries)
    system.repair("nvidia-*", "libnvidia-*")
    assert "installed" not in system.state("libnvidia-a")
    assert system.state("chrony") == "installed 1.0"


def test_what_is_unpacked_and_needs_another_gets_it(system):
    system.offer("liburing")
    system.run("dpkg", "--unpack", system.offer("qemu-nbd", Depends="liburing"))
    system.repair()
    assert (system.state("qemu-nbd"), system.state("liburing")) == ("installed 1.0", "installed 1.0")


def test_what_cannot_be_finished_is_told_by_its_name(system):
    package = system.offer("mdadm")
    system.cut(package)
    package.unlink()
    said = system.repair()
    assert said["failed"]
    assert "mdadm" in said["msg"]


def test_one_that_another_package_manager_is_at_is_waited_for(system):
    """A lock is a process's own: it is held from here, and let go when the module has begun to wait."""
    system.cut(system.offer("lvm2"))
    holder = (
        "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX); print('held', flush=True);"
        "sys.stdin.read(1)"
    )
    command = [sys.executable, "-c", holder, system.records / "lock-frontend"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as held:
        assert held.stdout.readline() == "held\n"
        module = [sys.executable, ROLE / "library/package_repair.py"]
        given = json.dumps({"ANSIBLE_MODULE_ARGS": {"removed": []}})
        with subprocess.Popen(
            module, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=system.environment, text=True
        ) as waits:
            with pytest.raises(subprocess.TimeoutExpired):
                waits.communicate(given, timeout=3)
            assert system.state("lvm2").startswith("half-installed")
            held.communicate("x")
            assert json.loads(waits.communicate()[0])["changed"]
    assert system.state("lvm2") == "installed 1.0"
