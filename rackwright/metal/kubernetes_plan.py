"""Everything that the role kubernetes is told about one host, as plain data: files, documents, names, addresses."""

from collections.abc import Sequence
from typing import Any

import yaml

from rackwright.metal import kube_router, kube_vip, kubeadm, kubernetes_packages
from rackwright.metal.k3s import SYSCTLS
from rackwright.metal.policies import admission, audit_policy
from rackwright.site.catalog import Catalog
from rackwright.site.clusters import Cluster
from rackwright.site.hosts import Host
from rackwright.site.networks import Networks
from rackwright.site.node_marks import labels, taints
from rackwright.site.operating_system import OperatingSystem

MODULES = ("overlay", "br_netfilter")
FORWARDING = {
    "net.bridge.bridge-nf-call-iptables": 1,
    "net.ipv4.ip_forward": 1,
}


def plan(
    host: Host,
    system: OperatingSystem,
    cluster: Cluster,
    networks: Networks,
    controls: Sequence[Host],
    catalog: Catalog,
    *,
    site: str,
    minutes: int,
    images: str | None = None,
    lends_gpus: bool = False,
) -> dict[str, Any]:
    """One host's part in the cluster of phase 2; `images` is a registry that stands in for Kubernetes' own."""
    version = catalog.kubernetes.kubeadm
    is_control = "control" in host.roles
    return {
        "name": host.name,
        "site": site,
        "api": str(cluster.api),
        "version": version,
        "is_control": is_control,
        "controls": [{"name": each.name, "address": str(each.address)} for each in controls],
        "package_format": system.package_format,
        "repository": kubernetes_packages.repository(system, catalog),
        "packages": kubernetes_packages.versions(catalog),
        "labels": labels(host, lends_gpus=lends_gpus),
        "taints": taints(2, host, lends_gpus=lends_gpus),
        "mtu": networks.nodes.mtu,
        "files": _files(host),
        "control_files": _control_files() if is_control else [],
        "founding": written(
            kubeadm.founding(
                host,
                cluster,
                controls,
                site=site,
                version=version,
                minutes=minutes,
                images=images,
                lends_gpus=lends_gpus,
            )
        )
        if is_control
        else "",
        "joining": kubeadm.joining(host, cluster, minutes=minutes, lends_gpus=lends_gpus),
        "address_pods": _address_pods(host, cluster, catalog) if is_control else {},
        "network": written(kube_router.objects(networks.nodes, image=catalog.images["kube-router"].reference)),
    }


def written(documents: Sequence[dict[str, Any]]) -> str:
    """Documents as one file of YAML."""
    return yaml.safe_dump_all(documents, sort_keys=False)


def _files(host: Host) -> list[dict[str, str]]:
    """What every host has, before its kubelet starts."""
    settings = "".join(f"{key} = {value}\n" for key, value in sorted({**SYSCTLS, **FORWARDING}.items()))
    return [
        {"path": "/etc/modules-load.d/90-kubernetes.conf", "text": "".join(f"{name}\n" for name in MODULES)},
        {"path": "/etc/sysctl.d/90-kubelet.conf", "text": settings},
        {"path": "/etc/crictl.yaml", "text": f"runtime-endpoint: {kubeadm.SOCKET}\n"},
        {"path": f"{kubeadm.KUBELET_FOLDER}/10-host.conf", "text": written([kubeadm.kubelet_of(host)])},
    ]


def _control_files() -> list[dict[str, str]]:
    return [
        {"path": f"{kubeadm.POLICIES}/audit.yaml", "text": written([audit_policy()])},
        {"path": f"{kubeadm.POLICIES}/admission.yaml", "text": written([admission()])},
    ]


def _address_pods(host: Host, cluster: Cluster, catalog: Catalog) -> dict[str, str]:
    """kube-vip's pod while the cluster is being founded, and afterwards."""
    image = catalog.images["kube-vip"].reference
    return {
        key: written([kube_vip.pod(host, cluster, image=image, is_founding=is_founding)])
        for key, is_founding in (("founding", True), ("serving", False))
    }
