"""Storage classes, one a purpose of a drive."""

from rackwright.site.hosts import Purpose

VOLUME_PURPOSES: tuple[Purpose, ...] = ("models", "vectors", "database", "scratch")


def storage_class(purpose: Purpose) -> str:
    """The class whose volumes lie on drives of one purpose."""
    return f"nvme-{purpose}"
