"""Where packages and programs come from that the systems' own repositories have not."""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote

from rackwright.metal import repositories
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host, Phase
from rackwright.site.operating_system import OperatingSystem
from rackwright.site.site import Site

KUBERNETES = "https://pkgs.k8s.io/core:/stable:"
CONTAINERD = "https://download.docker.com/linux"
K3S_PAGE = "/download"  # GitHub shows a page above the folder of its releases, and nothing in it
K3S_LIST = "sha256sum-amd64.txt"


class Upstream(NamedTuple):
    """An address that must answer, unless a configured mirror has one of the packages."""

    address: str
    purpose: str
    packages: tuple[str, ...] = ()


def upstreams(site: Site, host: Host, phase: Phase, catalog: Catalog) -> Iterator[Upstream]:
    """What one host needs in a phase."""
    system = host.operating_system or site.operating_system
    is_rpm = repositories.is_rpm(system)
    if host.gpus and site.gpu.driver_source == "nvidia":
        index = f"cuda-{repositories.cuda_folder(system)}.repo" if is_rpm else "Packages.gz"
        address = repositories.cuda(system, catalog).address + index
        yield Upstream(address, "the driver", ("nvidia-open", "cuda-drivers"))
    if host.gpus:
        address = f"{repositories.TOOLKIT}/stable/"
        address += "rpm/nvidia-container-toolkit.repo" if is_rpm else "deb/nvidia-container-toolkit.list"
        yield Upstream(address, "the container toolkit", ("nvidia-container-toolkit",))
    if phase == 1 and "://" in (source := catalog.binaries["k3s"].published):  # else a folder of who runs Ansible
        yield Upstream(_k3s(source, catalog.kubernetes.k3s), "k3s")
    else:
        index = "rpm/repodata/repomd.xml" if is_rpm else "deb/Release"
        yield Upstream(f"{KUBERNETES}/v{catalog.kubernetes.minor}/{index}", "kubelet and kubeadm", ("kubeadm",))
        yield Upstream(f"{CONTAINERD}/{_docker_folder(system)}", "containerd", ("containerd.io",))


def mirrored(catalog: Catalog, k3s: str) -> Catalog:
    """The catalog with k3s from where a site's own variables say, as the role k3s takes it; nothing: from upstream."""
    if not k3s:
        return catalog
    own = catalog.binaries["k3s"].model_copy(update={"published": k3s})
    return catalog.model_copy(update={"binaries": {**catalog.binaries, "k3s": own}})


def _k3s(source: str, version: str) -> str:
    """What must answer: GitHub's page of releases, or on a mirror what the role fetches first."""
    if source.endswith(K3S_PAGE):
        return source.removesuffix(K3S_PAGE)
    return f"{source.rstrip('/')}/{quote(version)}/{K3S_LIST}"


def _docker_folder(system: OperatingSystem) -> str:
    """Where Docker says what it has for a system."""
    if system.package_format == "rpm":
        name = "rhel" if system.name == "rhel" else "centos"
        return f"{name}/{system.release}/x86_64/stable/repodata/repomd.xml"
    return f"{system.name}/dists/{system.codename}/Release"
