"""Stand-ins of what a distribution has: what a module is built with, and drivers of its own under other names."""

from collections.abc import Iterator

from rackwright.guests.stand_ins.deb import Deb, File
from rackwright.guests.stand_ins.nvidia.driver_packages import LIBRARIES, PERSISTENCED, WORDS, fabric_manager, script
from rackwright.guests.stand_ins.nvidia.kernel_module import kernel_module

TRANSITIONAL = "Stand-in by Rackwright of a transitional package"


def build_packages(kernel: str) -> Iterator[Deb]:
    """Headers of one kernel, a compiler that compiles nothing, make and dkms."""
    yield Deb(f"linux-headers-{kernel}", "1", files={f"/usr/lib/modules/{kernel}/build/stand-in": File(WORDS)})
    for tool in ("gcc", "make"):
        refuses = f'#!/bin/sh\necho "{tool} is a stand-in by Rackwright" >&2\nexit 1\n'
        yield Deb(tool, "4:99-1", files={f"/usr/bin/{tool}": File(refuses, 0o755)})
    yield Deb("dkms", "99-1", {"Depends": "gcc, make, kmod"}, {"/usr/sbin/dkms": script("dkms.sh")})


def transitional_packages(branch: int, to: str) -> Iterator[Deb]:
    """A short-lived branch whose names lead to the next one's packages, as the archive has 590."""
    next_branch = int(to.partition(".")[0])
    version = f"{to}-0ubuntu0.24.04.1"
    for stem in ("nvidia-fabricmanager", "libnvidia-nscq"):
        relations = {"Depends": f"{stem}-{next_branch} (= {version})"}
        yield Deb(f"{stem}-{branch}", version, relations, summary=TRANSITIONAL)


def server_packages(version: str, kernel: str, flavour: str = "open") -> Iterator[Deb]:
    """A branch of the archive's for servers: modules that are built already, by kernel."""
    branch, package = version.partition(".")[0], f"{version}-0ubuntu0.24.04.1"
    suffix = f"{branch}-server"
    open_suffix = f"{suffix}-open" if flavour == "open" else suffix
    yield Deb(
        f"linux-modules-nvidia-{open_suffix}-{kernel}",
        "6.12.0-1.1",
        {"Depends": "kmod"},
        {
            f"/usr/lib/modules/{kernel}/kernel/nvidia-{branch}/nvidia.ko": File(kernel_module(version, flavour)),
            "/usr/lib/nvidia-stand-in/load": script("load.sh"),
            "/usr/lib/modprobe.d/nvidia-stand-in.conf": File("install nvidia /usr/lib/nvidia-stand-in/load\n"),
        },
        {"postinst": f"#!/bin/sh\nset -e\ndepmod {kernel}\n"},
    )
    libraries = f"libnvidia-compute-{suffix}"
    yield Deb(f"nvidia-headless-no-dkms-{open_suffix}", package, {"Depends": f"{libraries} (= {package})"})
    files = {f"{LIBRARIES}/libnvidia-ml.so.{version}": File(WORDS)}
    files[f"{LIBRARIES}/libnvidia-ml.so.1"] = File(link=f"libnvidia-ml.so.{version}")
    yield Deb(libraries, package, files=files)
    yield Deb(
        f"nvidia-utils-{suffix}",
        package,
        {"Depends": f"{libraries} (= {package})"},
        {"/usr/bin/nvidia-smi": script("nvidia_smi.py")},
    )
    yield Deb(
        f"nvidia-compute-utils-{suffix}",
        package,
        files={
            "/usr/bin/nvidia-persistenced": script("persistenced.sh"),
            "/usr/lib/systemd/system/nvidia-persistenced.service": File(PERSISTENCED),
        },
    )
    yield fabric_manager(f"nvidia-fabricmanager-{branch}", package, {"Conflicts": "nvidia-fabricmanager"})
    yield Deb(f"libnvidia-nscq-{branch}", package, files={f"{LIBRARIES}/libnvidia-nscq.so.2": File(WORDS)})
