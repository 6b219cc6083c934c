"""System programs that tests boot guests with: installed where that can be done without asking, else named."""

import os
import shutil
import subprocess
import sys

# By program: the package that brings it on Debian and Ubuntu.
PACKAGES = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "debootstrap": "debootstrap",
    "mkfs.ext4": "e2fsprogs",
    "ssh-keygen": "openssh-client",
    "ip": "iproute2",
}
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # not on every user's PATH


def lacking() -> list[str]:
    """Packages whose programs are not there."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS))
    return sorted({package for program, package in PACKAGES.items() if shutil.which(program, path=path) is None})


def ensure() -> None:
    """Install what is missing where root runs this on Debian or Ubuntu; elsewhere say it, and tests of guests skip."""
    missing = lacking()
    if not missing:
        return
    apt = shutil.which("apt-get")
    if os.geteuid() != 0 or apt is None:
        print(f"rackwright: no guest can be booted here; install {' '.join(missing)} to run those tests too")
        return
    print(f"rackwright: installing {' '.join(missing)}, which boot the guests that tests need", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "--quiet=2"], ["install", "--yes", "--quiet=2", "--no-install-recommends", *missing]):
        result = subprocess.run(
            [apt, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if result.returncode:
            sys.stderr.write(result.stdout + result.stderr)
            print("rackwright: they could not be installed; the lines above say why, and tests of guests are skipped")
            return
