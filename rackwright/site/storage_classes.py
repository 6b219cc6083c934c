"""Storage classes, one a purpose of a drive."""

from rackwright.site.hosts import Purpose

VOLUME_PURPOSES: tuple[Purpose, ...] = ("models", "vectors", "database", "scratch")


def storage_class(purpose: Purpose) -> str:
    """The class whose volumes lie on drives of one purpose."""
    return f"nvme-{purpose}"


def volume_group(purpose: Purpose) -> str:
    """The LVM volume group that the drives of one purpose form on a host."""
    return f"vg-{purpose}"
