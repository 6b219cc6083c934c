"""Where kubeadm and the kubelet come from: a repository a minor, so that no upgrade passes one by."""

from typing import Any

from rackwright.site.catalog import Catalog
from rackwright.site.operating_system import OperatingSystem

KUBERNETES = "https://pkgs.k8s.io/core:/stable:"
RELEASES = ("kubelet", "kubeadm", "kubectl")


def repository(system: OperatingSystem, minor: str) -> dict[str, Any]:
    """The repository of one minor."""
    folder = f"{KUBERNETES}/v{minor}"
    kept = [*RELEASES, "cri-tools", "kubernetes-cni"]
    if system.package_format == "rpm":
        key = f"{folder}/rpm/repodata/repomd.xml.key"
        return {"address": f"{folder}/rpm/", "suite": "", "components": [], "key": key, "packages": kept}
    return {
        "address": f"{folder}/deb/",
        "suite": "/",
        "components": [],
        "key": f"{folder}/deb/Release.key",
        "packages": kept,
    }


def versions(catalog: Catalog) -> dict[str, str]:
    """Every package with its version, installed at once; the network programs come as what the kubelet needs."""
    wished = catalog.kubernetes.kubeadm
    return {**dict.fromkeys(RELEASES, wished), "cri-tools": catalog.packages["cri-tools"]}
