"""What kubeadm and the kubelet are told: documents of kubeadm.k8s.io/v1beta4 and of the parts that it configures.

A document of the whole cluster is the same on every host, since kubeadm keeps it in the cluster; what one host has of
its own stands in its registration and in a file that its kubelet reads last.
"""

from collections.abc import Sequence
from typing import Any

from rackwright.metal import agents
from rackwright.metal.reserved import reserved
from rackwright.site.clusters import Cluster
from rackwright.site.hosts import Host
from rackwright.site.node_marks import pods, taints

API_VERSION = "kubeadm.k8s.io/v1beta4"
KUBELET_VERSION = "kubelet.config.k8s.io/v1beta1"
PROXY_VERSION = "kubeproxy.config.k8s.io/v1alpha1"
API_PORT = 6443
SOCKET = "unix:///run/containerd/containerd.sock"
FOLDER = "/etc/kubernetes"
POLICIES = f"{FOLDER}/policies"  # audit, admission
ENCRYPTION = f"{FOLDER}/encryption"  # the key of what etcd keeps
KUBELET_FOLDER = f"{FOLDER}/kubelet.conf.d"
LOGS = "/var/log/kubernetes"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - where monitoring reaches it; the node network is not the world's
TIMEOUTS = (
    "controlPlaneComponentHealthCheck",
    "kubeletHealthCheck",
    "kubernetesAPICall",
    "etcdAPICall",
    "tlsBootstrap",
    "discovery",
    "upgradeManifests",
)

Document = dict[str, Any]


def founding(
    host: Host,
    cluster: Cluster,
    controls: Sequence[Host],
    *,
    site: str,
    version: str,
    minutes: int,
    images: str | None,
    lends_gpus: bool = False,
) -> list[Document]:
    """What the first control host makes the cluster from, and every other one keeps beside it for later."""
    return [
        _init(host, minutes, lends_gpus),
        _cluster(cluster, controls, site=site, version=version, images=images),
        _kubelet(),
        _proxy(cluster),
    ]


def joining(host: Host, cluster: Cluster, *, minutes: int, lends_gpus: bool = False) -> Document:
    """What a host joins by, without what is secret; a control host joins the control plane too."""
    control = {"localAPIEndpoint": {"advertiseAddress": str(host.address), "bindPort": API_PORT}}
    return {
        "apiVersion": API_VERSION,
        "kind": "JoinConfiguration",
        "discovery": {"bootstrapToken": {"apiServerEndpoint": f"{cluster.api}:{API_PORT}"}},
        "nodeRegistration": _registration(host, lends_gpus),
        "timeouts": _timeouts(minutes),
        **({"controlPlane": control} if "control" in host.roles else {}),
    }


def opened(document: Document, *, token: str, ca_hash: str, certificate_key: str | None) -> Document:
    """A host's joining, with what opens the cluster for half an hour."""
    bootstrap = {**document["discovery"]["bootstrapToken"], "token": token, "caCertHashes": [ca_hash]}
    control = document.get("controlPlane")
    opening = {"discovery": {"bootstrapToken": bootstrap}}
    return document | opening | ({"controlPlane": {**control, "certificateKey": certificate_key}} if control else {})


def kubelet_of(host: Host) -> Document:
    """What this host's kubelet reads last: pods, what it keeps back from them, and NUMA beside GPUs."""
    kept = reserved(host)
    return {
        "apiVersion": KUBELET_VERSION,
        "kind": "KubeletConfiguration",
        "maxPods": pods(host),
        "systemReserved": {"cpu": f"{kept.millicores}m", "memory": f"{kept.memory_mib}Mi"},
        "evictionHard": {"memory.available": f"{kept.eviction_mib}Mi"},
        "mergeDefaultEvictionSettings": True,  # else room on drives would no longer be looked at
        **(_numa() if host.gpus else {}),
        **(agents.kubelet() if "agents" in host.roles else {}),
    }


def encryption(key: str) -> Document:
    """Secrets lie encrypted in etcd; what was written before there was a key can still be read."""
    providers = [{"secretbox": {"keys": [{"name": "first", "secret": key}]}}, {"identity": {}}]
    return {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{"resources": ["secrets"], "providers": providers}],
    }


def _init(host: Host, minutes: int, lends_gpus: bool) -> Document:
    return {
        "apiVersion": API_VERSION,
        "kind": "InitConfiguration",
        "localAPIEndpoint": {"advertiseAddress": str(host.address), "bindPort": API_PORT},
        "nodeRegistration": _registration(host, lends_gpus),
        "timeouts": _timeouts(minutes),
    }


def _cluster(cluster: Cluster, controls: Sequence[Host], *, site: str, version: str, images: str | None) -> Document:
    names = sorted({each.name for each in controls} | {str(each.address) for each in controls})
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterConfiguration",
        "clusterName": site,
        "kubernetesVersion": f"v{version}",
        "controlPlaneEndpoint": f"{cluster.api}:{API_PORT}",
        "networking": {"podSubnet": str(cluster.pods), "serviceSubnet": str(cluster.services)},
        "encryptionAlgorithm": "ECDSA-P256",
        **({"imageRepository": images} if images else {}),
        "apiServer": {
            "certSANs": [str(cluster.api), *names],
            "extraArgs": _arguments(
                {
                    "admission-control-config-file": f"{POLICIES}/admission.yaml",
                    "audit-policy-file": f"{POLICIES}/audit.yaml",
                    "audit-log-path": f"{LOGS}/audit.log",
                    "audit-log-maxage": "30",
                    "audit-log-maxbackup": "10",
                    "audit-log-maxsize": "100",
                    "encryption-provider-config": f"{ENCRYPTION}/configuration.yaml",
                    "profiling": "false",
                }
            ),
            "extraVolumes": [
                _volume("policies", POLICIES, "Directory", read_only=True),
                _volume("encryption", ENCRYPTION, "Directory", read_only=True),
                _volume("audit", LOGS, "DirectoryOrCreate", read_only=False),
            ],
        },
        "controllerManager": {"extraArgs": _arguments({"bind-address": EVERYWHERE, "profiling": "false"})},
        "scheduler": {"extraArgs": _arguments({"bind-address": EVERYWHERE, "profiling": "false"})},
        "etcd": {
            "local": {
                "dataDir": "/var/lib/etcd",
                "extraArgs": _arguments({"listen-metrics-urls": f"http://{EVERYWHERE}:2381"}),
            }
        },
    }


def _kubelet() -> Document:
    return {
        "apiVersion": KUBELET_VERSION,
        "kind": "KubeletConfiguration",
        "cgroupDriver": "systemd",
        "containerLogMaxSize": "50Mi",
        "containerLogMaxFiles": 5,
        "maxParallelImagePulls": 4,
        "serializeImagePulls": False,  # one large image would keep every other pod of the node waiting
        "podPidsLimit": 16384,
        "protectKernelDefaults": True,
        "seccompDefault": True,
        "serverTLSBootstrap": False,  # nobody would be there to approve a request at three in the morning
        "shutdownGracePeriod": "150s",
        "shutdownGracePeriodCriticalPods": "30s",
    }


def _proxy(cluster: Cluster) -> Document:
    return {
        "apiVersion": PROXY_VERSION,
        "kind": "KubeProxyConfiguration",
        "mode": "iptables",  # the tables that kube-router's policies stand in too
        "clusterCIDR": str(cluster.pods),
        "metricsBindAddress": f"{EVERYWHERE}:10249",
    }


def _registration(host: Host, lends_gpus: bool) -> Document:
    return {
        "name": host.name,
        "criSocket": SOCKET,
        "kubeletExtraArgs": _arguments({"node-ip": str(host.address), "config-dir": KUBELET_FOLDER}),
        "taints": taints(
            2, host, lends_gpus=lends_gpus
        ),  # written out also when empty: else kubeadm taints every control host
    }


def _numa() -> Document:
    """GPU, memory and threads of one container come from one side of the machine where they fit there.

    Not `single-numa-node`: a model over eight GPUs spans both sides, and would be turned away after it was placed.
    """
    return {
        "cpuManagerPolicy": "static",
        "topologyManagerPolicy": "best-effort",
        "topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "true"},
    }


def _timeouts(minutes: int) -> Document:
    return dict.fromkeys(TIMEOUTS, f"{minutes}m0s")


def _arguments(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def _volume(name: str, path: str, kind: str, *, read_only: bool) -> Document:
    return {"name": name, "hostPath": path, "mountPath": path, "pathType": kind, "readOnly": read_only}
