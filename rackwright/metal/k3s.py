"""What k3s is told on each host of phase 1: its configuration file, its environment, and the kernel's settings.

Keys are the long names of k3s's flags (docs.k3s.io, `k3s server` and `k3s agent`); an unknown one ends it.
"""

from typing import Any
from urllib.parse import urlsplit

from rackwright.metal.reserved import reserved
from rackwright.site.clusters import Cluster
from rackwright.site.hosts import Host
from rackwright.site.networks import Networks
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.operating_system import OperatingSystem
from rackwright.site.port_names import vlan_name

FOLDER = "/etc/rancher/k3s"
DATA = "/var/lib/rancher/k3s"
TOKEN_FILE = f"{FOLDER}/token"
ADMISSION_FILE = f"{FOLDER}/admission.yaml"
AUDIT_FILE = f"{FOLDER}/audit-policy.yaml"
NAMES_FILE = f"{FOLDER}/resolv.conf"
LOGS = f"{DATA}/server/logs"
API_PORT = 6443
SELINUX = ("rhel", "rocky")  # systems that enforce it from the first day

# What the kubelet sets by itself, and with protect-kernel-defaults only looks at (Kubernetes 1.36, pkg/kubelet/cm).
SYSCTLS = {
    "kernel.keys.root_maxbytes": 25000000,
    "kernel.keys.root_maxkeys": 1000000,
    "kernel.panic": 10,
    "kernel.panic_on_oops": 1,
    "vm.overcommit_memory": 1,
    "vm.panic_on_oom": 0,
}
CIPHERS = (
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
)


def server(
    host: Host,
    system: OperatingSystem,
    cluster: Cluster,
    networks: Networks,
    *,
    site: str,
    object_storage: ObjectStorage | None,
) -> dict[str, Any]:
    """The configuration of the server: control plane, etcd and a node."""
    return {
        "cluster-init": True,  # etcd from the first day: SQLite has no snapshots, and takes no second server
        **_node(host, system, networks),
        "tls-san": sorted({str(cluster.api), str(host.address), host.name}),
        "write-kubeconfig-mode": "0600",
        "cluster-cidr": str(cluster.pods),
        "service-cidr": str(cluster.services),
        "flannel-backend": "host-gw",  # one layer-2 network: pods get its whole MTU, and nothing is encapsulated
        "disable": ["traefik", "local-storage"],  # it would hold port 443; volumes are TopoLVM's
        "secrets-encryption": True,
        "etcd-snapshot-schedule-cron": "0 */6 * * *",
        "etcd-snapshot-retention": 28,  # a week
        **_snapshots_elsewhere(site, object_storage),
        "kube-apiserver-arg": [
            f"admission-control-config-file={ADMISSION_FILE}",
            f"audit-policy-file={AUDIT_FILE}",
            f"audit-log-path={LOGS}/audit.log",
            "audit-log-maxage=30",
            "audit-log-maxbackup=10",
            "audit-log-maxsize=100",
            "service-account-extend-token-expiration=false",
        ],
        "kube-controller-manager-arg": ["terminated-pod-gc-threshold=100"],
    }


def agent(host: Host, system: OperatingSystem, cluster: Cluster, networks: Networks) -> dict[str, Any]:
    """The configuration of a node beside the server."""
    return {"server": f"https://{cluster.api}:{API_PORT}", **_node(host, system, networks)}


def environment(
    cluster: Cluster, networks: Networks, proxy: str, object_storage: ObjectStorage | None, keys: tuple[str, str] | None
) -> dict[str, str]:
    """What k3s is started with: a proxy and all that is not behind it, and the keys of the snapshots' store."""
    found: dict[str, str] = {}
    if proxy:
        inside = [networks.nodes.cidr, *([networks.storage.cidr] if networks.storage else ())]
        ranges = map(str, (*inside, cluster.pods, cluster.services))
        direct = ["127.0.0.0/8", "localhost", *ranges, ".svc", ".cluster.local"]
        if object_storage:
            direct.append(str(urlsplit(object_storage.endpoint).hostname))
        found |= {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "NO_PROXY": ",".join(direct)}
    if object_storage and keys and takes_snapshots(object_storage):
        found |= {"AWS_ACCESS_KEY_ID": keys[0], "AWS_SECRET_ACCESS_KEY": keys[1]}
    return found


def takes_snapshots(object_storage: ObjectStorage) -> bool:
    """True for a store at the root of its address: k3s can be told a host and a port, and no path."""
    return urlsplit(object_storage.endpoint).path in {"", "/"}


def node_link(host: Host) -> str | None:
    """The name of the port, bond or VLAN that bears the host's address."""
    tagged = (vlan_name(vlan) for vlan in host.vlans if vlan.network == "nodes")
    return next((port.name for port in host.ports if port.network == "nodes"), next(tagged, None))


def _node(host: Host, system: OperatingSystem, networks: Networks) -> dict[str, Any]:
    """What server and agent are told alike."""
    link = node_link(host)
    return {
        "token-file": TOKEN_FILE,
        "node-name": host.name,
        "node-ip": str(host.address),
        **({"flannel-iface": link} if link else {}),
        # Else k3s gives pods a public resolver where it finds the host's own on the host itself.
        **({"resolv-conf": NAMES_FILE} if networks.name_servers else {}),
        **({"default-runtime": "nvidia"} if host.gpus else {}),
        **({"node-label": [f"nvidia.com/mig.config={host.gpus.mig}"]} if host.gpus and host.gpus.mig else {}),
        **({"selinux": True} if system.name in SELINUX else {}),
        "protect-kernel-defaults": True,
        "kubelet-arg": _kubelet(host),
    }


def _kubelet(host: Host) -> list[str]:
    kept = reserved(host)
    return [
        f"system-reserved=cpu={kept.millicores}m,memory={kept.memory_mib}Mi",
        f"eviction-hard=memory.available<{kept.eviction_mib}Mi,nodefs.available<5%,imagefs.available<5%",
        "streaming-connection-idle-timeout=5m",
        f"tls-cipher-suites={','.join(CIPHERS)}",
    ]


def _snapshots_elsewhere(site: str, object_storage: ObjectStorage | None) -> dict[str, Any]:
    """A copy of each snapshot off the machine, where the site has a store; its keys come by the environment."""
    if object_storage is None or not takes_snapshots(object_storage):
        return {}
    address = urlsplit(object_storage.endpoint)
    return {
        "etcd-s3": True,
        "etcd-s3-endpoint": address.netloc,
        "etcd-s3-region": object_storage.region,
        "etcd-s3-bucket": object_storage.bucket,
        "etcd-s3-folder": f"{site}/k3s",
        **({"etcd-s3-insecure": True} if address.scheme == "http" else {}),
    }
