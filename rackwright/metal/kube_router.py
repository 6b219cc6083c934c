"""kube-router: routes between the nodes' pods, and network policies; services stay kube-proxy's.

All nodes are on one layer-2 network, so packets of pods are routed as they are: nothing is wrapped around them, and
pods have the network's whole MTU. The policies are those of k3s, which has the same program built in.
"""

import json
from typing import Any

from rackwright.site.networks import Network

NAME = "kube-router"
NAMESPACE = "kube-system"
METRICS_PORT = 20241
HEALTH_PORT = 20244
NETWORKS_FILE = "/etc/cni/net.d/10-kuberouter.conflist"
PROGRAMS = "/opt/cni/bin"
READ = ["get", "list", "watch"]

Object = dict[str, Any]


def objects(network: Network, *, image: str) -> list[Object]:
    """Everything that the API server is given, in the order in which it is needed."""
    return [_account(), _role(), _binding(), _networks(network), _daemons(image)]


def networks_file(network: Network) -> Object:
    """What containerd reads to give a pod its port; kube-router fills in the node's own share of the addresses."""
    bridge = {
        "name": "kubernetes",
        "type": "bridge",
        "bridge": "kube-bridge",
        "isDefaultGateway": True,
        "hairpinMode": True,  # a pod may be sent to itself by a service's address
        "mtu": network.mtu,
        "ipam": {"type": "host-local"},
    }
    ports = {"type": "portmap", "capabilities": {"snat": True, "portMappings": True}}
    return {"cniVersion": "0.3.0", "name": "rackwright", "plugins": [bridge, ports]}


def _account() -> Object:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": NAMESPACE}}


def _role() -> Object:
    rules = [
        {"apiGroups": [""], "resources": ["namespaces", "pods", "services", "nodes", "endpoints"], "verbs": READ},
        {"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": READ},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": READ},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]},
        {"apiGroups": [""], "resources": ["services/status"], "verbs": ["update"]},
    ]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NAME},
        "rules": rules,
    }


def _binding() -> Object:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": NAME},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
    }


def _networks(network: Network) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "data": {"cni-conf.json": json.dumps(networks_file(network), indent=2)},
    }


def _daemons(image: str) -> Object:
    labels = {"app.kubernetes.io/name": NAME}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
            "template": {"metadata": {"labels": labels}, "spec": _pod(image)},
        },
    }


def _pod(image: str) -> Object:
    return {
        "priorityClassName": "system-node-critical",
        "serviceAccountName": NAME,
        "hostNetwork": True,
        "hostPID": True,
        "tolerations": [{"operator": "Exists"}],  # without it a node is not Ready, whatever its taints
        "initContainers": [_installer(image)],
        "containers": [_router(image)],
        "volumes": [
            {"name": "modules", "hostPath": {"path": "/lib/modules"}},
            {"name": "networks", "hostPath": {"path": "/etc/cni/net.d", "type": "DirectoryOrCreate"}},
            {"name": "programs", "hostPath": {"path": "/opt", "type": "DirectoryOrCreate"}},
            {"name": "lock", "hostPath": {"path": "/run/xtables.lock", "type": "FileOrCreate"}},
            {"name": "wished", "configMap": {"name": NAME}},
        ],
    }


def _installer(image: str) -> Object:
    """The networks' file is written where there is none: kube-router itself writes the node's addresses into it."""
    script = (
        f"set -e; if [ ! -f {NETWORKS_FILE} ]; then cp /wished/cni-conf.json {NETWORKS_FILE}.new; "
        f"mv {NETWORKS_FILE}.new {NETWORKS_FILE}; fi; "
        "if [ -x /usr/local/bin/cni-install ]; then /usr/local/bin/cni-install; fi"
    )
    return {
        "name": "install",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/sh", "-c", script],
        "volumeMounts": [
            {"name": "networks", "mountPath": "/etc/cni/net.d"},
            {"name": "programs", "mountPath": "/opt"},
            {"name": "wished", "mountPath": "/wished", "readOnly": True},
        ],
    }


def _router(image: str) -> Object:
    return {
        "name": NAME,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": [
            "--run-router=true",
            "--run-firewall=true",
            "--run-service-proxy=false",
            "--run-loadbalancer=false",
            "--enable-overlay=false",
            "--bgp-graceful-restart=true",
            f"--metrics-port={METRICS_PORT}",
            f"--health-port={HEALTH_PORT}",
        ],
        "env": [
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "KUBE_ROUTER_CNI_CONF_FILE", "value": NETWORKS_FILE},
        ],
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": HEALTH_PORT},
            "initialDelaySeconds": 10,
            "periodSeconds": 3,
            "failureThreshold": 10,
        },
        "resources": {"requests": {"cpu": "250m", "memory": "250Mi"}},
        "securityContext": {"privileged": True},
        "volumeMounts": [
            {"name": "modules", "mountPath": "/lib/modules", "readOnly": True},
            {"name": "networks", "mountPath": "/etc/cni/net.d"},
            {"name": "lock", "mountPath": "/run/xtables.lock"},
        ],
    }
