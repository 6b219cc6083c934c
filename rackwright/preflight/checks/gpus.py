"""GPUs, NVSwitches and the bridges above them, by their ids on the bus."""

from collections import Counter
from collections.abc import Iterator

from rackwright.preflight.finding import Fault, changes, forbids, warns
from rackwright.preflight.machine import Machine
from rackwright.preflight.seen import NotSeen
from rackwright.site.hosts import Gpus, Host
from rackwright.site.known.gpu_products import gpu_products
from rackwright.site.site import Site

REDIRECTS = {0x04: "ReqRedir", 0x08: "CmpltRedir", 0x10: "UpstreamFwd"}  # PCI Express, ACS control register
NVLINK_5 = "blackwell"


def gpus_are_the_sites(machine: Machine, host: Host) -> Iterator[Fault]:
    """GPUs on the bus are of the site's product and size, and as many."""
    found = Counter(device.device.removeprefix("0x") for device in machine.gpu_devices)
    if host.gpus is None:
        if found:
            yield warns(f"has {_spell(found)}, and the site gives it no gpus", "Describe them in the site file")
        return
    wished = host.gpus
    right = sum(found[each] for each in wished.variant.pci)
    others = Counter({each: count for each, count in found.items() if each not in wished.variant.pci})
    if right != wished.count or others:
        yield forbids(
            f"has {_spell(found) or 'no GPU on the bus'}, and the site says {wished.count} x {wished.product} "
            f"{wished.memory_gb} GB",
            "Look for a GPU that has fallen off the bus (dmesg, the BMC's log), or correct gpus",
        )


def flavour_drives_the_gpus_found(machine: Machine, site: Site) -> Iterator[Fault]:
    """The kernel module that the site chose drives what is on the bus: Blackwell works with the open one alone."""
    for device in dict.fromkeys(each.device.removeprefix("0x") for each in machine.gpu_devices):
        product = next(
            (each for each in gpu_products().values() for size in each.variants.values() if device in size.pci), None
        )
        if product and site.gpu.driver_flavour not in product.flavours:
            yield forbids(
                f"has {product.name} ({product.family}), which the {site.gpu.driver_flavour} module does not drive",
                f"Write gpu.driver_flavour: {product.flavours[0]}",
            )


def switches_are_the_sites(machine: Machine, host: Host) -> Iterator[Fault]:
    """NVSwitches are there where the site says nvswitch, and only there: they decide on the fabric manager."""
    wished = host.gpus
    if wished is None:
        return
    found = len(machine.switch_devices)
    if found and wished.link != "nvswitch":
        yield forbids(
            f"has {found} NVSwitches, and the site says link {wished.link}: without a fabric manager CUDA fails (802)",
            "Write link: nvswitch",
        )
    if not found and wished.link == "nvswitch" and not _is_nvlink_5(wished):
        yield forbids(
            "has no NVSwitch on the bus, and the site says link nvswitch",
            "Look whether the switches have fallen off the bus (BMC), or correct link",
        )


def nvlink_5_is_managed(machine: Machine, host: Host) -> Iterator[Fault]:
    """NVLink 5 switches are managed over InfiniBand devices: ib_umad is loaded and nvlsm is installed."""
    if host.gpus is None or host.gpus.link != "nvswitch" or not _is_nvlink_5(host.gpus):
        return
    rdma = machine.network.rdma
    if not rdma:
        raise NotSeen("The management of NVLink 5", "there is no InfiniBand device (is mlx5_ib loaded?)")
    if not any(device.manages_switches for device in rdma):
        yield forbids(
            "has no InfiniBand device that manages NVSwitches (SW_MNG in its vital product data)",
            "Look whether the baseboard's ConnectX bridges are on the bus",
        )
    missing = [] if "ib_umad" in machine.system.modules else ["the module ib_umad"]
    missing += [] if "nvlsm" in machine.installed else ["the package nvlsm"]
    if missing:
        yield changes(
            f"lacks {' and '.join(missing)}, without which the fabric manager takes the wrong path (CUDA error 802)",
            "Load ib_umad at boot and install nvlsm beside the driver",
        )


def fabric_manager_is_the_drivers(machine: Machine, host: Host) -> Iterator[Fault]:
    """Where there are NVSwitches, the fabric manager is there in the driver's very version."""
    if host.gpus is None or host.gpus.link != "nvswitch":
        return
    driver = machine.driver
    managers = {name: each for name, each in machine.installed.items() if name.startswith("nvidia-fabricmanager")}
    if not managers:
        loaded = f"driver {driver.version}" if driver else "no driver"
        yield changes(
            f"has {loaded} and no fabric manager, without which CUDA fails with 802 on NVSwitch machines",
            "Install nvidia-fabricmanager in the driver's version, in one transaction with it",
        )
    for name, manager in managers.items():
        if driver and not manager.is_of(driver.version):
            yield forbids(
                f"has driver {driver.version} and {name} {manager.version}, which refuse each other",
                f"Install {name}={driver.version}-1 (or what `apt-cache madison {name}` shows of {driver.version})",
            )


def bridges_let_gpus_speak(machine: Machine) -> Iterator[Fault]:
    """No bridge above two GPUs or more redirects what they send each other (ACS): NCCL would hang or crawl."""
    devices = machine.gpu_devices
    if len(devices) < 2:
        return
    hidden, redirecting = [], []
    for bridge in dict.fromkeys(bridge for device in devices for bridge in device.bridges):
        register = machine.gpus.bridges.get(bridge)
        if register is None or not register.read:
            hidden.append(bridge)
        elif names := [name for bit, name in REDIRECTS.items() if (register.control or 0) & bit]:
            redirecting.append(f"{bridge} ({'+ '.join(names)}+)")
    if redirecting:
        yield warns(
            f"redirects traffic between GPUs (ACS) at {len(redirecting)} bridges: {', '.join(redirecting)}",
            "Turn ACS off in the firmware, or at each boot: setpci -s BRIDGE ECAP_ACS+6.w=0000",
        )
    if hidden:
        raise NotSeen("ACS of PCIe bridges", f"only root may read it ({len(hidden)} bridges)")


def _spell(found: Counter[str]) -> str:
    by_id = {each: f"{product.name} {size} GB" for product in gpu_products().values()
             for size, variant in product.variants.items() for each in variant.pci}  # fmt: skip
    return ", ".join(f"{count} x {by_id.get(each, 'an unknown GPU')} (10de:{each})" for each, count in found.items())


def _is_nvlink_5(gpus: Gpus) -> bool:
    return gpus.known.family == NVLINK_5
