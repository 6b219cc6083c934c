"""Where containerd comes from, and which image holds a pod's network together."""

from typing import Any

from rackwright.site.catalog import Catalog
from rackwright.site.operating_system import OperatingSystem

DOCKER = "https://download.docker.com/linux"
PACKAGE = "containerd.io"


def repository(system: OperatingSystem, catalog: Catalog) -> dict[str, Any]:
    """Docker's own repository of signed packages; the distributions have older series."""
    is_rpm = system.package_format == "rpm"
    name = ("rhel" if system.name == "rhel" else "centos") if is_rpm else system.name
    folder = f"{DOCKER}/{name}"
    return {
        "address": f"{folder}/{system.release}/$basearch/stable" if is_rpm else folder,
        "suite": "" if is_rpm else system.codename,
        "components": [] if is_rpm else ["stable"],
        "key": f"{folder}/gpg",
        "fingerprints": [catalog.signing_keys[f"docker-{system.package_format}"]],
        "packages": [PACKAGE],
    }


def sandbox(catalog: Catalog) -> str:
    """The image of a pod's own, empty container: kubeadm's, so that one image is fetched and not two."""
    return catalog.images["pause"].reference
