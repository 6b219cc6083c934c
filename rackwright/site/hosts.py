"""The machines of a rack, as they are wished: facts found on them are compared with this, never written into it."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, field_validator

from rackwright.site.known.gpu_products import GpuProduct, Variant, gpu_product
from rackwright.site.operating_system import OperatingSystem
from rackwright.site.reading.shown import shown
from rackwright.site.reading.unknown import NotKnown
from rackwright.site.settings import Address, Form, Name, Settings

Phase = Literal[1, 2]
Role = Literal["inference", "training", "agents", "control"]
NetworkName = Literal["nodes", "storage"]
Purpose = Literal["system", "models", "vectors", "database", "scratch"]

STABLE_DISK_NAME = re.compile(r"^/dev/disk/by-id/[A-Za-z0-9][A-Za-z0-9._:+-]*$")
NO_DRIVE = re.compile(r"^/dev/disk/by-id/(dm|lvm|md)-|-part[0-9]+$")

MacAddress = Annotated[
    str,
    StringConstraints(pattern=r"^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$", to_lower=True),
    Form("six pairs of hexadecimal digits joined by colons, in quotes"),
]
PciPath = Annotated[
    str,
    StringConstraints(pattern=r"^pci-[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7][A-Za-z0-9:.-]*$"),
    Form("ID_PATH of `udevadm info /sys/class/net/<port>`, such as pci-0000:41:00.0"),
]
InterfaceName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9_.-]{0,14}$"),
    Form("at most 15 lower-case letters, digits, dots, hyphens and underscores, beginning with a letter"),
]


def _stable_disk_name(path: str) -> str:
    if not STABLE_DISK_NAME.match(path):
        raise ValueError(
            f"is {shown(path)}, which can name another disk after a reboot; "
            "write the disk's name below /dev/disk/by-id (ls -l /dev/disk/by-id shows them)"
        )
    if NO_DRIVE.search(path):
        raise ValueError(f"is {shown(path)}, which is a part of a drive or lies over several; name the drive itself")
    return path


DiskPath = Annotated[str, AfterValidator(_stable_disk_name), Form("a name below /dev/disk/by-id")]


class Gpus(Settings):
    """The GPUs of one host; all of one product."""

    product: str = Field(description="The product, e.g. h100_sxm; `rackwright schema` lists the known ones.")
    count: int = Field(ge=1, le=16, description="How many the driver must show.")
    memory_gb: int = Field(
        ge=1, le=10_000, description="Memory of each, in GB as sold; tells apart products sold in two sizes."
    )
    link: Literal["nvlink", "nvswitch", "pcie"] = Field(description="How the GPUs reach each other.")
    mig: str | None = Field(
        default=None,
        description="The MIG layout of every GPU, e.g. all-1g.10gb; absent: whole GPUs.",
    )

    @property
    def known(self) -> GpuProduct:
        """What is known of this product, whichever site it stands in."""
        return gpu_product(self.product)

    @property
    def variant(self) -> Variant:
        """What is known of the product in this memory size; a size that does not exist is refused by a rule."""
        if self.memory_gb not in self.known.variants:
            raise NotKnown
        return self.known.variants[self.memory_gb]

    @field_validator("product")
    @classmethod
    def _product_is_known(cls, product: str) -> str:
        gpu_product(product)
        return product


class Nic(Settings):
    """A network port, named by what it is and not by where the kernel found it."""

    name: InterfaceName = Field(description="The name that the port gets, at most 15 characters.")
    mac: MacAddress | None = Field(default=None, description="Its MAC address; this or path.")
    path: PciPath | None = Field(
        default=None, description="Its place on the bus as udev's ID_PATH has it; this or mac."
    )
    speed_gbps: Literal[1, 10, 25, 40, 50, 100, 200, 400] = Field(
        description="The speed at which the link must come up."
    )
    network: NetworkName | None = Field(
        default=None, description="The network that it carries untagged; absent in a bond."
    )


class Bond(Settings):
    """Several ports as one, by LACP (802.3ad, layer 3+4 hashing)."""

    name: InterfaceName = Field(description="The name that the bond gets.")
    nics: tuple[InterfaceName, ...] = Field(
        min_length=2, description="Names of the host's ports in it, all of one speed."
    )
    network: NetworkName | None = Field(default=None, description="The network that it carries untagged.")


class Vlan(Settings):
    """A tagged network over a port or a bond."""

    id: int = Field(ge=1, le=4094, description="The tag.")
    over: InterfaceName = Field(description="The port or bond that carries it.")
    network: NetworkName = Field(description="The network behind the tag.")


class Disk(Settings):
    """An NVMe drive and what it is for."""

    path: DiskPath = Field(description="Its stable name below /dev/disk/by-id.")
    size_gb: int = Field(ge=1, le=1_000_000, description="Its size in GB as sold; preflight compares.")
    purpose: Purpose = Field(
        description=(
            "What it holds; drives of one purpose become one volume group. `system`: the system's own, which is left "
            "alone, or empty ones, which hold a node's state (several as a mirror)."
        )
    )
    wipe: str | None = Field(
        default=None,
        description="The drive's serial number, written here by hand, allows a drive with data on it to be wiped.",
    )


class Host(Settings):
    """One machine."""

    name: Name = Field(description="Its host name and its node's name.")
    address: Address = Field(description="Its address on the node network.")
    storage_address: Address | None = Field(default=None, description="Its address on the storage network.")
    phases: tuple[Phase, ...] = Field(default=(1, 2), min_length=1, description="The phases in which it serves.")
    roles: tuple[Role, ...] = Field(min_length=1, description="What it does.")
    cores: int = Field(ge=1, le=1024, description="Processor threads that the system shows.")
    memory_gib: int = Field(ge=1, le=32768, description="Memory in GiB.")
    operating_system: OperatingSystem | None = Field(default=None, description="Where it differs from the site's.")
    gpus: Gpus | None = Field(default=None, description="Its GPUs, if any.")
    nics: tuple[Nic, ...] = Field(min_length=1, description="Its ports.")
    bonds: tuple[Bond, ...] = Field(default=(), description="Its bonds.")
    vlans: tuple[Vlan, ...] = Field(default=(), description="Its tagged networks.")
    disks: tuple[Disk, ...] = Field(default=(), description="Its NVMe drives.")

    @field_validator("phases", "roles")
    @classmethod
    def _each_once(cls, values: tuple[str | int, ...]) -> tuple[str | int, ...]:
        for value in values:
            if values.count(value) > 1:
                raise ValueError(f"holds {value} twice; write it once")
        return values

    @property
    def ports(self) -> tuple[Nic | Bond, ...]:
        """Ports and bonds: what can carry a network untagged."""
        return (*self.nics, *self.bonds)

    @property
    def gpu_count(self) -> int:
        """Whole GPUs of the host; 0 without any."""
        return self.gpus.count if self.gpus else 0

    def disk_gb(self, purpose: Purpose) -> int:
        """Space for one purpose, in GB, over all drives that serve it."""
        return sum(disk.size_gb for disk in self.disks if disk.purpose == purpose)
