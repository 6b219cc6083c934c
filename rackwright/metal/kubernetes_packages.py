"""Where kubeadm and the kubelet come from: a repository a minor, so that no upgrade passes one by."""

import re
from collections.abc import Mapping
from typing import Any

from rackwright.errors import Refusal
from rackwright.site.catalog import Catalog
from rackwright.site.operating_system import OperatingSystem

KUBERNETES = "https://pkgs.k8s.io/core:/stable:"
RELEASES = ("kubelet", "kubeadm", "kubectl")
INSTALLED = re.compile(r"^(\S+)=(?:\w+ ok )?installed/([^-\s]+)-", re.MULTILINE)


def repository(system: OperatingSystem, catalog: Catalog) -> dict[str, Any]:
    """The repository of the catalog's minor."""
    folder = f"{KUBERNETES}/v{catalog.kubernetes.minor}"
    is_rpm = system.package_format == "rpm"
    return {
        "address": f"{folder}/{system.package_format}/",
        "suite": "" if is_rpm else "/",
        "components": [],
        "key": f"{folder}/{'rpm/repodata/repomd.xml.key' if is_rpm else 'deb/Release.key'}",
        "fingerprints": [catalog.signing_keys["kubernetes"]],
        "packages": [*RELEASES, "cri-tools", "kubernetes-cni"],
    }


def versions(catalog: Catalog) -> dict[str, str]:
    """Every package with its version, installed at once; the network programs come as what the kubelet needs."""
    wished = catalog.kubernetes.kubeadm
    return {**dict.fromkeys(RELEASES, wished), "cri-tools": catalog.packages["cri-tools"]}


def installed(said: str) -> dict[str, str]:
    """Versions by package, out of lines `kubelet=install ok installed/1.36.3-1.1`; others say that it is not here."""
    return dict(INSTALLED.findall(said))


def missing(wished: Mapping[str, str], said: str) -> list[str]:
    """Packages that are not here at the wished version."""
    found = installed(said)
    return [name for name, version in wished.items() if found.get(name) != version]


def moves(wished: Mapping[str, str], said: str) -> bool:
    """Whether a node moves to the wished versions; Refusal where that is no step that Kubernetes can take."""
    found = installed(said).get("kubelet")
    if found is None:
        raise Refusal("There is no kubelet here to upgrade.", "Add the node with playbooks/kubernetes.yml.")
    old, new = (tuple(int(part) for part in version.split(".")[:3]) for version in (found, wished["kubelet"]))
    if old[0] != new[0] or new[1] - old[1] > 1 or new < old:
        cure = "Write the minor after it into the catalog first" if new > old else "Kubernetes does not go back"
        raise Refusal(f"The kubelet here is {found}, and the catalog says {wished['kubelet']}.", f"{cure}.")
    return bool(missing(wished, said))
