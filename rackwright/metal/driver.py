"""What a GPU host's driver consists of: packages of one version, what builds them, and what runs; nobody is asked."""

from dataclasses import dataclass
from typing import Literal

from rackwright.errors import Refusal
from rackwright.metal.repositories import Repository, cuda, is_rpm
from rackwright.site.catalog import Catalog
from rackwright.site.gpu import Gpu
from rackwright.site.hosts import Gpus
from rackwright.site.operating_system import OperatingSystem

UNVERSIONED_FROM = 590  # from here on NVIDIA's packages for Ubuntu bear no branch in their names (NVIDIA, driver guide)
NVLINK_5 = "blackwell"

# Names of whatever is built from the driver, in any source, branch and system: all of it is of one version. The
# container toolkit and the EGL libraries have versions of their own.
OF_THE_DRIVER = (
    "cuda-drivers*", "firmware-nvidia-gsp*", "kmod-nvidia*", "libcuda1", "libcudadebugger1", "libnvcuvid1",
    "libnvidia-cfg*", "libnvidia-common*", "libnvidia-compute*", "libnvidia-decode*", "libnvidia-encode*",
    "libnvidia-extra*", "libnvidia-fbc*", "libnvidia-gl*", "libnvidia-gpucomp*", "libnvidia-ml*", "libnvidia-nscq*",
    "libnvidia-nvvm*", "libnvidia-opticalflow*", "libnvidia-pkcs11*", "libnvidia-ptxjitcompiler*",
    "libnvidia-rtcore*", "libnvsdm*", "nvidia-compute-utils*", "nvidia-dkms*", "nvidia-driver",
    "nvidia-driver-[!ps]*", "nvidia-fabricmanager*", "nvidia-firmware*", "nvidia-headless*", "nvidia-imex*",
    "nvidia-kernel*", "nvidia-kmod*", "nvidia-libopencl*", "nvidia-modprobe", "nvidia-open*", "nvidia-opencl-icd",
    "nvidia-persistenced", "nvidia-smi", "nvidia-utils*",
)  # fmt: skip


@dataclass(frozen=True)
class Driver:
    """The driver of one host; {kernel} in a package's name stands for the kernel that runs."""

    branch: int
    version: str
    flavour: str
    source: str
    package_system: Literal["apt", "dnf"]
    repository: Repository | None
    stream: str
    packages: tuple[str, ...]
    companions: tuple[str, ...]
    building: tuple[str, ...]
    family: tuple[str, ...]
    modules: tuple[str, ...]
    services: tuple[str, ...]
    gpus: int
    has_fabric: bool


def driver(gpus: Gpus, gpu: Gpu, system: OperatingSystem, catalog: Catalog) -> Driver:
    """The driver that a site wants on a host; Refusal where the catalog has no such branch."""
    pinned = catalog.drivers.get(gpu.driver_branch)
    if pinned is None:
        raise Refusal(
            f"The catalog holds no driver of branch {gpu.driver_branch}.",
            f"Write a gpu.driver_branch of {', '.join(str(branch) for branch in sorted(catalog.drivers))}.",
        )
    has_fabric = gpus.link == "nvswitch"
    nvlink_5 = has_fabric and gpus.known.family == NVLINK_5
    distribution = gpu.driver_source == "distribution"
    return Driver(
        branch=gpu.driver_branch,
        version=pinned.version,
        flavour=gpu.driver_flavour,
        source=gpu.driver_source,
        package_system="dnf" if is_rpm(system) else "apt",
        repository=None if distribution else cuda(system, catalog),
        stream=_stream(gpu) if is_rpm(system) else "",
        packages=(*_core(gpu, system), *_fabric(gpu, has_fabric, nvlink_5)),
        companions=("nvlsm",) if nvlink_5 else (),
        building=_building(gpu, system, nvlink_5),
        # The distribution gives nvidia-modprobe a version of its own.
        family=tuple(name for name in OF_THE_DRIVER if not (distribution and name == "nvidia-modprobe")),
        modules=("ib_umad",) if nvlink_5 else (),
        services=("nvidia-persistenced", *(("nvidia-fabricmanager",) if has_fabric else ())),
        gpus=gpus.count,
        has_fabric=has_fabric,
    )


def _core(gpu: Gpu, system: OperatingSystem) -> tuple[str, ...]:
    """Module, libraries, nvidia-smi and the persistence daemon, without anything for a screen."""
    branch, is_open = gpu.driver_branch, gpu.driver_flavour == "open"
    if gpu.driver_source == "distribution":
        flavour = "-open" if is_open else ""
        return (
            f"nvidia-headless-no-dkms-{branch}-server{flavour}",
            f"nvidia-utils-{branch}-server",
            f"nvidia-compute-utils-{branch}-server",
        )
    if is_rpm(system):
        module = "kmod-nvidia-open-dkms" if is_open else "kmod-nvidia-latest-dkms"
        return (module, "nvidia-driver-cuda", "nvidia-persistenced")
    if system.name == "debian":
        module = "nvidia-kernel-open-dkms" if is_open else "nvidia-kernel-dkms"
        return (module, "nvidia-driver-cuda", "libcuda1", "nvidia-persistenced")
    flavour = "-open" if is_open else ""
    if branch >= UNVERSIONED_FROM:
        return (f"nvidia-dkms{flavour}", "libnvidia-compute", "nvidia-persistenced")
    return (
        f"nvidia-dkms-{branch}{flavour}",
        f"libnvidia-compute-{branch}",
        f"nvidia-utils-{branch}",
        "nvidia-persistenced",
    )


def _fabric(gpu: Gpu, has_fabric: bool, nvlink_5: bool) -> tuple[str, ...]:
    """What runs and reads NVSwitches: Ubuntu's own packages bear the branch in their names, NVIDIA's do not."""
    if not has_fabric:
        return ()
    suffix = f"-{gpu.driver_branch}" if gpu.driver_source == "distribution" else ""
    names = ("nvidia-fabricmanager", "libnvidia-nscq")
    # Ubuntu has no libnvsdm, which reads NVLink 5's switches.
    sdm = ("libnvsdm",) if nvlink_5 and gpu.driver_source == "nvidia" else ()
    return (*(f"{name}{suffix}" for name in names), *sdm)


def _building(gpu: Gpu, system: OperatingSystem, nvlink_5: bool) -> tuple[str, ...]:
    """What must be there before: headers and a compiler, or the modules that Ubuntu signed for the kernel that runs."""
    # ib_umad is not among the modules of a minimal Ubuntu image.
    extra = ("linux-modules-extra-{kernel}",) if nvlink_5 and system.name == "ubuntu" else ()
    if gpu.driver_source == "distribution":
        flavour = "-open" if gpu.driver_flavour == "open" else ""
        return (*extra, f"linux-modules-nvidia-{gpu.driver_branch}-server{flavour}-{{kernel}}")
    if is_rpm(system):
        return ("kernel-devel-{kernel}", "kernel-headers", "gcc", "make", "dkms", "python3-dnf-plugin-versionlock")
    return (*extra, "linux-headers-{kernel}", "gcc", "make", "dkms")


def _stream(gpu: Gpu) -> str:
    """The module stream of dnf."""
    return f"nvidia-driver:{gpu.driver_branch}-{'open' if gpu.driver_flavour == 'open' else 'dkms'}"
