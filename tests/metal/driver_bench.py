"""A GPU host's driver out of a small site, and hosts in every state."""

from rackwright.metal.driver import Driver, driver
from rackwright.metal.driver_found import Found, Package
from rackwright.site.catalog import Catalog
from rackwright.site.gpu import Gpu
from rackwright.site.hosts import Gpus
from rackwright.site.operating_system import OperatingSystem

DEBIAN = OperatingSystem(name="debian", release="13")
UBUNTU = OperatingSystem(name="ubuntu", release="24.04")
ROCKY = OperatingSystem(name="rocky", release="9")
H100 = Gpus(product="h100_sxm", count=8, memory_gb=80, link="nvswitch")
B200 = Gpus(product="b200_sxm", count=8, memory_gb=180, link="nvswitch")
L40S = Gpus(product="l40s", count=4, memory_gb=48, link="pcie")
KERNEL = "6.12.1-test"
CATALOG = Catalog.load()


def wanted(gpus: Gpus = H100, system: OperatingSystem = DEBIAN, branch: int = 580, **gpu: object) -> Driver:
    """The driver that a site wants."""
    return driver(gpus, Gpu.model_validate({"driver_branch": branch, **gpu}), system, CATALOG)


def installed(driver: Driver, version: str = "", **found: object) -> Found:
    """A host on which every package of a driver is installed, in its version or another one."""
    version = version or driver.version
    names = [*driver.packages, *driver.companions, *(name.replace("{kernel}", KERNEL) for name in driver.building)]
    packages = {name: Package(f"{version}-1" if name in driver.packages else "1-1", "installed") for name in names}
    return Found(kernel=KERNEL, packages=packages, is_ours=True, **found)


def working(driver: Driver, **found: object) -> Found:
    """A host whose driver is in order."""
    rows = tuple((str(index), driver.version, "Enabled") for index in range(driver.gpus))
    state = {
        "smi_code": 0,
        "gpus": rows,
        "fabric": ("Completed",) * driver.gpus if driver.has_fabric else (),
        "module_version": driver.version,
        "module_license": "Dual MIT/GPL" if driver.flavour == "open" else "NVIDIA",
        "loaded": driver.version,
    }
    return installed(driver, **(state | found))
