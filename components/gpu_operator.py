"""GPUs in Kubernetes: NVIDIA's operator, over a driver and a container toolkit that are the host's own."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pulumi
import yaml

from components.base import Chart, Component
from components.base.network import Rule, names, policy, scrapes
from rackwright.site.gpu import Gpu
from rackwright.site.hosts import Host, Phase
from rackwright.site.node_marks import KEPT_FOR, toleration

COUNTERS = "gpu-counters"
DCGM_PORT, OPERATOR_PORT = 9400, 8080  # the operator gives itself a monitor too, and has no switch for it
WHOLE = "all-disabled"  # the MIG manager's layout of undivided GPUs

# Where k3s keeps its containerd: the toolkit is off, yet whoever turns it on must not rewrite another's file.
K3S_CONTAINERD = {
    "CONTAINERD_CONFIG": "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
    "CONTAINERD_SOCKET": "/run/k3s/containerd/containerd.sock",
}

# The charts' own list; a host that is kept for something has GPUs all the same, and a list of ours replaces theirs.
TOLERATIONS = [
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    *(toleration(role) for role in KEPT_FOR),
]
DISCOVERY = [
    {"key": "node-role.kubernetes.io/control-plane", "operator": "Equal", "value": "", "effect": "NoSchedule"},
    *TOLERATIONS,
]


def values(gpu: Gpu, hosts: Sequence[Host], scrape_interval_s: int, counters: str, *, phase: Phase) -> dict[str, Any]:
    """What the chart is told."""
    containerd = K3S_CONTAINERD if phase == 1 else {}  # kubeadm's is where the toolkit looks by itself
    return {
        "driver": {"enabled": False},  # the host's, by the role nvidia_driver
        "toolkit": {
            "enabled": False,  # the host's, too: k3s finds its runtime when it starts
            "env": [{"name": name, "value": value} for name, value in containerd.items()],
        },
        "daemonsets": {"tolerations": TOLERATIONS},
        "node-feature-discovery": {"worker": {"tolerations": DISCOVERY}},
        "cdi": {"enabled": True},  # devices by name: a daemon-reload on the host takes them from no container
        "mig": {"strategy": gpu.mig_strategy},
        "migManager": {"config": {"default": layout(hosts)}},
        "devicePlugin": {"config": sharing(gpu)},
        "dcgmExporter": {
            # The exporter's own list leaves out how busy the multiprocessors are.
            "config": {"name": COUNTERS, "create": True, "data": counters},
            "serviceMonitor": {
                "enabled": True,
                "interval": f"{scrape_interval_s}s",
                "scrapeTimeout": f"{min(10, scrape_interval_s)}s",
                "honorLabels": True,  # pod and namespace are those of the GPU's user, not of the exporter
            },
        },
    }


def layout(hosts: Sequence[Host]) -> str:
    """The MIG layout of hosts that bear no label of their own: the commonest of the site."""
    layouts = Counter(host.gpus.mig or WHOLE for host in hosts if host.gpus)
    return layouts.most_common(1)[0][0] if layouts else WHOLE


def sharing(gpu: Gpu) -> dict[str, Any]:
    """The device plugin's configuration: turns on one GPU, where the site wants them."""
    if gpu.time_slices == 1:
        return {"create": False, "name": ""}
    shared = {"name": "nvidia.com/gpu", "replicas": gpu.time_slices}
    text = yaml.safe_dump({"version": "v1", "sharing": {"timeSlicing": {"resources": [shared]}}})
    return {"create": True, "name": "device-plugin", "default": "any", "data": {"any": text}}


class GpuOperator(Component):
    """Device plugin, validator, feature discovery, MIG manager and DCGM on every GPU node."""

    def __init__(
        self,
        name: str,
        gpu: Gpu,
        *,
        chart: Chart,
        hosts: Sequence[Host],
        phase: Phase,
        to_api: Rule,
        counters: str,
        scrape_interval_s: int,
        monitors: pulumi.Resource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts, pod_security="privileged")  # it works on the host's devices
        self.add(policy(name, ingress=[scrapes(DCGM_PORT, OPERATOR_PORT)], egress=[names(), to_api]))
        # The operator makes no monitor for DCGM where it does not find that kind when it starts.
        told = values(gpu, hosts, scrape_interval_s, counters, phase=phase)
        self.release(chart, told, renews_definitions=True, after=[monitors])  # operator.upgradeCRD, its default
        self.register_outputs({"resource": "nvidia.com/gpu"})
