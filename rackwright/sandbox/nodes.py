"""A site's machines as the nodes that its cluster would show, for a control plane that simulates their kubelets."""

from ipaddress import IPv4Network
from typing import Any

from rackwright.sandbox.gpu_labels import gpu_labels
from rackwright.site.catalog import Catalog
from rackwright.site.gpu_resources import offered
from rackwright.site.hosts import Host, Phase
from rackwright.site.node_marks import CONTROL_PLANE, labels, pods, taints
from rackwright.site.rdma_ports import PODS, RESOURCE, rdma_ports
from rackwright.site.site import Site
from rackwright.site.spans import users_of_rdma
from rackwright.site.storage_classes import VOLUME_PURPOSES, storage_class
from rackwright.site.volumes import room_gb

KERNEL_SHARE = 0.015  # of the memory, taken by firmware and kernel before a kubelet counts it
EVICTION_MIB = 100  # the kubelet's default reserve
SYSTEM_GB = 100  # for images and logs, where the site names no system drive


def nodes(site: Site, phase: Phase, catalog: Catalog) -> list[dict[str, Any]]:
    """The Node of every host that serves in the phase."""
    return [_node(site, phase, catalog, host, index) for index, host in enumerate(site.hosts_in(phase))]


def storage_capacities(site: Site, phase: Phase) -> list[dict[str, Any]]:
    """The room on each node's drives, as the storage driver reports it: the scheduler places no volume without it."""
    return [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIStorageCapacity",
            "metadata": {"name": f"{host.name}-{purpose}", "namespace": "kube-system"},
            "storageClassName": storage_class(purpose),
            "nodeTopology": {"matchLabels": {"topology.topolvm.io/node": host.name}},
            "capacity": str(room_gb(host, purpose) * 10**9),
        }
        for host in site.hosts_in(phase)
        for purpose in VOLUME_PURPOSES
        if room_gb(host, purpose)
    ]


def is_control(site: Site, phase: Phase, host: Host) -> bool:
    """True where the host runs the control plane: k3s on the server of phase 1, kubeadm on control hosts later."""
    cluster = site.cluster(phase)
    if phase == 1:
        return cluster is not None and host.address == cluster.api
    return "control" in host.roles


def _node(site: Site, phase: Phase, catalog: Catalog, host: Host, index: int) -> dict[str, Any]:
    network = _pod_network(site, phase, index)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": host.name,
            "annotations": {"kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0"},
            "labels": _labels(site, phase, catalog, host),
        },
        "spec": {"podCIDR": network, "podCIDRs": [network], "taints": taints(phase, host, lends_gpus=site.lends_gpus)},
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": str(host.address)},
                {"type": "Hostname", "address": host.name},
            ],
            "capacity": _resources(site, host, reserve_mib=0),
            "allocatable": _resources(site, host, reserve_mib=EVICTION_MIB),
            "nodeInfo": _node_info(site, phase, catalog, host),
        },
    }


def _labels(site: Site, phase: Phase, catalog: Catalog, host: Host) -> dict[str, str]:
    system = host.operating_system or site.operating_system
    found = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": host.name,
        "kubernetes.io/os": "linux",
        "feature.node.kubernetes.io/system-os_release.ID": system.name,
        "feature.node.kubernetes.io/system-os_release.VERSION_ID": system.release,
        "topology.topolvm.io/node": host.name,
    }
    if phase == 1:
        found["node.kubernetes.io/instance-type"] = "k3s"
    else:
        found |= labels(host, lends_gpus=site.lends_gpus)
    if is_control(site, phase, host):
        # k3s writes true and marks its embedded etcd; kubeadm writes an empty value.
        k3s = {CONTROL_PLANE: "true", "node-role.kubernetes.io/etcd": "true"}
        found |= k3s if phase == 1 else {CONTROL_PLANE: ""}
    if host.gpus:
        found |= gpu_labels(host.gpus, site.gpu, catalog.drivers[site.gpu.driver_branch])
    return found


def _resources(site: Site, host: Host, reserve_mib: int) -> dict[str, str]:
    system_gb = host.disk_gb("system") or SYSTEM_GB
    resources = {
        "cpu": str(host.cores),
        "memory": f"{int(host.memory_gib * 1024 * (1 - KERNEL_SHARE)) - reserve_mib}Mi",
        "ephemeral-storage": str(system_gb * 10**9),
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "pods": str(pods(host)),
    }
    if host.gpus:
        resources |= {name: str(count) for name, count in offered(host.gpus, site.gpu).items()}
    if host.gpus and rdma_ports(host) and users_of_rdma(site):
        resources[RESOURCE] = str(PODS)
    return resources


def _node_info(site: Site, phase: Phase, catalog: Catalog, host: Host) -> dict[str, str]:
    system = host.operating_system or site.operating_system
    version = catalog.kubernetes.k3s if phase == 1 else f"v{catalog.kubernetes.kubeadm}"
    return {
        "architecture": "amd64",
        "bootID": "",
        "containerRuntimeVersion": f"containerd://{catalog.packages['containerd']}",
        "kernelVersion": "simulated",
        "kubeProxyVersion": "",
        "kubeletVersion": version,
        "machineID": "",
        "operatingSystem": "linux",
        "osImage": f"{system.name} {system.release}",
        "systemUUID": "",
    }


def _pod_network(site: Site, phase: Phase, index: int) -> str:
    """The node's share of the pod network: a /24, as k3s and kubeadm give it out."""
    cluster = site.cluster(phase)
    network = cluster.pods if cluster else IPv4Network("10.42.0.0/16")
    length = max(network.prefixlen, 24)
    first = int(network.network_address) + (index << (32 - length)) % network.num_addresses
    return str(IPv4Network((first, length)))
