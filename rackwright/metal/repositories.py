"""Where NVIDIA's packages are published, by system, and the keys that sign them."""

from dataclasses import dataclass

from rackwright.site.catalog import Catalog
from rackwright.site.operating_system import OperatingSystem

CUDA = "https://developer.download.nvidia.com/compute/cuda/repos"
TOOLKIT = "https://nvidia.github.io/libnvidia-container"
CUDA_KEY = "3bf863cc.pub"
CUDA_KEYS = {"debian13": "8793F200.pub", "rhel9": "D42D0685.pub"}  # Debian 13 takes no signature by the older key


@dataclass(frozen=True)
class Repository:
    """A repository as the role package_repository takes it; of both of NVIDIA's kinds, flat ones for apt."""

    address: str
    key: str
    suite: str = "/"
    components: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()


def is_rpm(system: OperatingSystem) -> bool:
    """True where dnf installs, and not apt."""
    return system.package_format == "rpm"


def cuda_folder(system: OperatingSystem) -> str:
    """NVIDIA's name for a system."""
    if is_rpm(system):
        return f"rhel{system.release}"
    return f"{system.name}{system.release.replace('.', '')}"


def cuda(system: OperatingSystem, catalog: Catalog) -> Repository:
    """The repository of the driver, for x86-64."""
    folder = cuda_folder(system)
    address = f"{CUDA}/{folder}/x86_64/"
    fingerprint = catalog.signing_keys[f"cuda-{folder}" if folder in CUDA_KEYS else "cuda"]
    return Repository(address, address + CUDA_KEYS.get(folder, CUDA_KEY), fingerprints=(fingerprint,))


def toolkit(system: OperatingSystem, catalog: Catalog) -> Repository:
    """The repository of the container toolkit, for x86-64."""
    folder = "rpm/x86_64/" if is_rpm(system) else "deb/amd64/"
    fingerprint = catalog.signing_keys["nvidia-container-toolkit"]
    return Repository(f"{TOOLKIT}/stable/{folder}", f"{TOOLKIT}/gpgkey", fingerprints=(fingerprint,))
