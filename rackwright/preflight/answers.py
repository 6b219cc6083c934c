"""What a machine answers, as it comes: words of the kernel and of commands, nothing understood yet."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rackwright.errors import Refusal


class Answer(BaseModel):
    """A part of an answer; what an older or newer asker adds is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Said(Answer):
    """A command's exit code and words; 127: it is not installed."""

    code: int = 127
    out: str = ""
    error: str = "it was not asked"


class SecureBoot(Answer):
    """The firmware's variable: its last byte is 1 where Secure Boot is on."""

    efi: bool
    value: tuple[int, ...] = ()


class System(Answer):
    """What runs, and on how much."""

    os_release: str | None = None
    kernel: str
    machine: str
    name: str
    cgroup_mounts: str
    meminfo: str | None = None
    cores: int | None = None
    modules: tuple[str, ...] = ()
    secure_boot: SecureBoot


class Swap(Answer):
    """Swap that is on, and what turns it on."""

    swaps: str | None = None
    fstab: str | None = None
    units: Said = Said()
    zram: tuple[str, ...] = ()


class Offset(Answer):
    """Seconds that the machine is ahead of a time server."""

    offset_s: float | None = None
    error: str = ""


class Clock(Answer):
    """What keeps time, and how well."""

    timedatectl: Said = Said()
    chrony: Said = Said()
    servers: dict[str, Offset] = {}


class Resolved(Answer):
    """How long a name took, and why it failed where it did."""

    seconds: float
    error: str = ""
    address: str = ""


class Lookups(Answer):
    """Names."""

    resolv_conf: str | None = None
    names: dict[str, Resolved] = {}
    reverse: Resolved | None = None


class PciDevice(Answer):
    """A device on the bus, with the bridges above it."""

    address: str
    device: str
    kind: str = Field(alias="class")
    driver: str = ""
    bridges: tuple[str, ...] = ()


class AccessControl(Answer):
    """A bridge's ACS control register; not read where only root may."""

    read: bool
    control: int | None = None


class Gpus(Answer):
    """NVIDIA's devices and what drives them."""

    devices: tuple[PciDevice, ...] = ()
    bridges: dict[str, AccessControl] = {}
    driver_version: str | None = None
    module: Said = Said()


class Port(Answer):
    """A network port as sysfs shows it."""

    path: str = ""
    speed: str = ""
    carrier: str = ""


class Gid(Answer):
    """An address of an RDMA port."""

    index: int
    gid: str
    type: str = ""


class RdmaDevice(Answer):
    """An RDMA device with the network ports it stands beside."""

    name: str
    ports: tuple[str, ...] = ()
    manages_switches: bool = False
    link_layer: str = ""
    gids: tuple[Gid, ...] = ()


class Network(Answer):
    """Ports, addresses, routes, sockets."""

    links: Said = Said()
    addresses: Said = Said()
    default_routes: Said = Said()
    ports: dict[str, Port] = {}
    rdma: tuple[RdmaDevice, ...] = ()
    listening: Said = Said()


class Ping(Said):
    """What ping says of one peer at one size, in bytes with headers."""

    name: str
    network: str
    address: str
    mtu: int
    bytes: int


class Door(Answer):
    """A TCP port of a peer: open, refused, silent, or the kernel's words."""

    name: str
    address: str
    port: int
    answer: str


class Paths(Answer):
    """What stands between this machine and its peers."""

    pings: tuple[Ping, ...] = ()
    doors: tuple[Door, ...] = ()


class Packages(Answer):
    """What repositories offer, what is installed, what is held; system: apt, dnf or empty."""

    system: str = ""
    repositories: dict[str, str] = {}
    offered: Said = Said()
    installed: Said = Said()
    held: Said = Said()
    automatic: str = ""


class Disks(Answer):
    """Drives, their names, signatures by the site's paths, volume groups."""

    block_devices: Said = Said()
    names: dict[str, str] = {}
    signatures: dict[str, Said] = {}
    volume_groups: Said = Said()


class Leftovers(Answer):
    """Traces of an earlier life."""

    paths: tuple[str, ...] = ()
    servers: dict[str, str] = {}
    mark: dict[str, str] = {}
    datastore: str = ""
    versions: dict[str, Said] = {}
    token_salt: str = ""
    token_digest: str = ""


class Flush(Answer):
    """P99 of a kept write, in ms, and what measured it."""

    folder: str
    tool: str = ""
    p99_ms: float | None = None
    error: str = ""


class Answers(Answer):
    """Everything that one machine said; a section that failed is absent, and `unseen` says why."""

    root: bool = False
    seconds: float = 0
    unseen: dict[str, str] = {}
    system: System | None = None
    swap: Swap | None = None
    clock: Clock | None = None
    lookups: Lookups | None = None
    gpus: Gpus | None = None
    network: Network | None = None
    paths: Paths | None = None
    packages: Packages | None = None
    addresses: dict[str, str] | None = None
    disks: Disks | None = None
    services: Said | None = None
    leftovers: Leftovers | None = None
    flush: Flush | None = None


def understand(host: str, data: Any) -> Answers:
    """A machine's answers out of plain data; Refusal names the first place that has another form."""
    try:
        return Answers.model_validate(data)
    except (ValidationError, RecursionError) as error:
        faults = error.errors() if isinstance(error, ValidationError) else []
        place = ".".join(str(part) for part in faults[0]["loc"]) if faults else ""
        raise Refusal(
            f"What {host} answered is not understood{f' (at {place[:120]})' if place else ''}.",
            f"Look what Python is on it: ansible {host} -m ansible.builtin.command -a 'python3 --version'.",
        ) from None
