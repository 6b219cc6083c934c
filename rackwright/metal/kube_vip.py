"""kube-vip: a pod on every control host, one of which holds the address of the API, and addresses of services.

It is a static pod, since the API is made behind the address that it brings. Its settings are environment variables.
"""

from typing import Any

from rackwright.metal.kubeadm import API_PORT, FOLDER
from rackwright.site.clusters import Cluster
from rackwright.site.hosts import Host
from rackwright.site.port_names import carriers

MANIFEST = f"{FOLDER}/manifests/kube-vip.yaml"
FOUNDING_FILE = f"{FOLDER}/super-admin.conf"  # the other's user has no rights before the cluster is made
FILE = f"{FOLDER}/admin.conf"
METRICS_PORT = 2112
NAMESPACE = "kube-system"


def pod(host: Host, cluster: Cluster, *, image: str, is_founding: bool) -> dict[str, Any]:
    """The static pod of one control host."""
    kubeconfig = FOUNDING_FILE if is_founding else FILE
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "kube-vip", "namespace": NAMESPACE, "labels": {"app.kubernetes.io/name": "kube-vip"}},
        "spec": {
            "hostNetwork": True,
            "priorityClassName": "system-node-critical",
            # It speaks to the API beside it, never through the address that it may have to bring first.
            "hostAliases": [{"ip": "127.0.0.1", "hostnames": ["kubernetes"]}],
            "containers": [
                {
                    "name": "kube-vip",
                    "image": image,
                    "imagePullPolicy": "IfNotPresent",
                    "args": ["manager"],
                    "env": _environment(host, cluster),
                    "securityContext": {"capabilities": {"add": ["NET_ADMIN", "NET_RAW"], "drop": ["ALL"]}},
                    "volumeMounts": [{"name": "kubeconfig", "mountPath": FILE, "readOnly": True}],
                }
            ],
            "volumes": [{"name": "kubeconfig", "hostPath": {"path": kubeconfig, "type": "File"}}],
        },
    }


def port_of_nodes(host: Host) -> str:
    """The port, bond or VLAN that carries the node network; a rule of the site file sees that there is one."""
    return next(name for network, name in carriers(host) if network == "nodes")


def _environment(host: Host, cluster: Cluster) -> list[dict[str, Any]]:
    values = {
        "vip_arp": "true",
        "vip_interface": port_of_nodes(host),
        "vip_subnet": "32",
        "address": str(cluster.api),
        "port": str(API_PORT),
        "cp_enable": "true",
        "cp_namespace": NAMESPACE,
        "svc_enable": "true",
        "svc_leasename": "plndr-svcs-lock",
        "vip_leaderelection": "true",
        "vip_leasename": "plndr-cp-lock",
        # Longer than the usual 5, 3 and 1: a moment's silence of etcd would move the address.
        "vip_leaseduration": "15",
        "vip_renewdeadline": "10",
        "vip_retryperiod": "2",
        "prometheus_server": f":{METRICS_PORT}",
    }
    node = {"name": "vip_nodename", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    return [node, *({"name": name, "value": value} for name, value in values.items())]
