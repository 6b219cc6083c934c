"""What a machine shows of its drives, as the role `storage` reads it."""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict


class Shown(BaseModel):
    """A part of what a machine shows; what a newer reader adds is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Signature(Shown):
    """A signature that wipefs finds on a drive or one of its partitions."""

    device: str
    type: str
    uuid: str = ""
    label: str = ""


class Block(Shown):
    """A drive, or what the kernel shows on top of it."""

    path: str
    type: str
    fstype: str = ""
    label: str = ""
    uuid: str = ""
    mounts: tuple[str, ...] = ()
    unfinished: bool = False  # an xfs that mkfs did not come to the end of


class Drive(Shown):
    """One of the site's drives."""

    device: str
    size: int
    serial: str
    signatures: tuple[Signature, ...] = ()
    blocks: tuple[Block, ...] = ()  # itself, then what is on it

    @property
    def devices(self) -> frozenset[str]:
        """Itself and its partitions."""
        return frozenset(block.path for block in self.blocks if block.type in ("disk", "part")) | {self.device}

    @property
    def is_blank(self) -> bool:
        """True where nothing is on it."""
        return not self.signatures and not any(block.path != self.device for block in self.blocks)

    @property
    def mounts(self) -> tuple[str, ...]:
        """Where it is mounted, a swap area among them."""
        return tuple(dict.fromkeys(mount for block in self.blocks for mount in block.mounts))

    @property
    def users(self) -> tuple[str, ...]:
        """Who uses it that cannot simply be stopped: mounts, and openings by encryption, multipath and the like."""
        known = ("disk", "part", "lvm")
        others = (b for b in self.blocks if b.type not in known and not b.type.startswith("raid") and b.type != "md")
        return (*self.mounts, *(f"{block.type} {block.path}" for block in others))

    @property
    def content(self) -> str:
        """What is on it, in words."""
        kinds = (f'{each.type} "{each.label}"' if each.label else each.type for each in self.signatures)
        above = (f"{block.type} {block.path}" for block in self.blocks if block.path != self.device)
        return ", ".join(dict.fromkeys([*kinds] or [*above]))


class PhysicalVolume(Shown):
    """A device that LVM knows, and the group it is in, if any."""

    device: str
    group: str = ""
    group_uuid: str = ""


class Array(Shown):
    """A software RAID that the kernel knows."""

    device: str
    members: tuple[str, ...] = ()
    active: bool = True


class DriveFacts(Shown):
    """All of it; drives by the site's names, those that are not there are not in it."""

    drives: dict[str, Drive] = {}
    volumes: tuple[PhysicalVolume, ...] = ()
    lacking: tuple[str, ...] = ()  # groups of which a drive is gone
    arrays: tuple[Array, ...] = ()
    full_folders: tuple[str, ...] = ()  # of those for a node's state: not empty, and not mounted

    def group_of(self, drive: Drive) -> str:
        """The group that the whole drive is in."""
        return next((volume.group for volume in self.volumes if volume.device == drive.device), "")

    def array_of(self, devices: frozenset[str]) -> Array | None:
        """The array that one of these devices is in."""
        return next((array for array in self.arrays if devices & set(array.members)), None)

    def group_uuids(self, name: str) -> frozenset[str]:
        """Groups of one name: more than one, where a drive came from another machine."""
        return frozenset(volume.group_uuid for volume in self.volumes if volume.group == name)

    def stacked(self, devices: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
        """Groups and arrays that reach into these devices, in words, with all devices of each."""
        for uuid in {volume.group_uuid for volume in self.volumes if volume.device in devices and volume.group}:
            volumes = [volume for volume in self.volumes if volume.group_uuid == uuid]
            yield f"volume group {volumes[0].group}", frozenset(volume.device for volume in volumes)
        for array in self.arrays:
            if devices & set(array.members):
                yield f"array {array.device}", frozenset(array.members)
