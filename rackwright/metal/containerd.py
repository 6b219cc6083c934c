"""Where containerd comes from, and which image holds a pod's network together."""

from typing import Any

from rackwright.site.catalog import Catalog
from rackwright.site.operating_system import OperatingSystem

DOCKER = "https://download.docker.com/linux"
PACKAGE = "containerd.io"


def repository(system: OperatingSystem) -> dict[str, Any]:
    """Docker's own repository of signed packages; the distributions have older series."""
    if system.package_format == "rpm":
        folder = f"{DOCKER}/{'rhel' if system.name == 'rhel' else 'centos'}"
        address = f"{folder}/{system.release}/$basearch/stable"
        return {"address": address, "suite": "", "components": [], "key": f"{folder}/gpg", "packages": [PACKAGE]}
    folder = f"{DOCKER}/{system.name}"
    return {
        "address": folder,
        "suite": system.codename,
        "components": ["stable"],
        "key": f"{folder}/gpg",
        "packages": [PACKAGE],
    }


def sandbox(catalog: Catalog) -> str:
    """The image of a pod's own, empty container: kubeadm's, so that one image is fetched and not two."""
    return catalog.images["pause"].reference
