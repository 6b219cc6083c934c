"""Ports that read GPUs' memory, as a resource that pods ask for: NVIDIA's plugin for devices that many pods share."""

import json
from collections.abc import Sequence
from typing import Any

import pulumi

from components.base import PART_OF, Component, Manifest
from components.base.network import policy
from rackwright.site.catalog import Image
from rackwright.site.hosts import Host
from rackwright.site.node_marks import mark
from rackwright.site.rdma_ports import PODS, RESOURCE_NAME, RESOURCE_PREFIX, rdma_ports

NAME = "rdma-ports"
LABELS = {"app.kubernetes.io/name": NAME}
FILE = "config.json"
# The kubelet's folders for plugins, and devices; the program looks for its file where it does.
FOLDERS = {
    "device-plugins": "/var/lib/kubelet/device-plugins",
    "plugins-registry": "/var/lib/kubelet/plugins_registry",
    "devices": "/dev",
}
CONFIGURATION = "/k8s-rdma-shared-dev-plugin"


def told(hosts: Sequence[Host]) -> dict[str, Any]:
    """What the plugin is told: ports by the names that the site gives them, which are the same wherever they are."""
    names = sorted({port.name for host in hosts for port in rdma_ports(host)})
    offered = {"resourceName": RESOURCE_NAME, "resourcePrefix": RESOURCE_PREFIX, "rdmaHcaMax": PODS}
    return {"periodicUpdateInterval": 60, "configList": [offered | {"selectors": {"ifNames": names}}]}


def settings(hosts: Sequence[Host]) -> Manifest:
    """The plugin's file."""
    metadata = {"name": NAME, "labels": LABELS | PART_OF}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {FILE: json.dumps(told(hosts))}}


def daemon(image: Image) -> Manifest:
    """A plugin on each host that serves models; it sees the host's ports, and registers with the kubelet."""
    plugin = {
        "name": "plugin",
        "image": image.reference,
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "securityContext": {"privileged": True},
        "volumeMounts": [
            *({"name": name, "mountPath": path} for name, path in FOLDERS.items()),
            {"name": "configuration", "mountPath": CONFIGURATION, "readOnly": True},
        ],
    }
    pod = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "hostNetwork": True,
        "priorityClassName": "system-node-critical",
        "nodeSelector": {mark("inference"): "true"},
        # As engines do: a host that keeps others off its GPUs would have them wait for its ports for good.
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [plugin],
        "volumes": [
            *({"name": name, "hostPath": {"path": path}} for name, path in FOLDERS.items()),
            {"name": "configuration", "configMap": {"name": NAME}},
        ],
    }
    template = {"metadata": {"labels": LABELS | PART_OF}, "spec": pod}
    spec = {"selector": {"matchLabels": LABELS}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": NAME, "labels": LABELS | PART_OF},
        "spec": spec,
    }


class Rdma(Component):
    """The plugin, where a model's caches move between hosts."""

    def __init__(
        self, name: str, hosts: Sequence[Host], *, image: Image, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts, pod_security="privileged")  # it hands out the host's devices
        self.add(policy(name))
        file = self.add(settings(hosts))
        self.add(daemon(image), after=[file])
        self.register_outputs({})
