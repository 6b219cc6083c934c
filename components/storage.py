"""Storage on the nodes' own NVMe: TopoLVM, one device class and one storage class a purpose.

A volume group of each purpose must stand on the hosts before (`volume_group` names it); a volume is a logical volume
in it, so its size is enforced and one tenant of the disk cannot fill another's.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pulumi

from components.base import Chart, Component, Manifest
from components.base.network import Rule, names, policy, scrapes
from rackwright.site.hosts import Host, Purpose
from rackwright.site.node_marks import taints
from rackwright.site.storage_classes import VOLUME_PURPOSES, storage_class, volume_group
from rackwright.site.volumes import SPARE_GB

KEPT: frozenset[Purpose] = frozenset({"vectors", "database"})  # what lies there exists nowhere else
METRICS_PORT = 8080


def values(hosts: Sequence[Host]) -> dict[str, Any]:
    """What the chart is told for these hosts."""
    groups = _by_purposes(hosts)
    configurations = [_configuration(purposes, names) for purposes, names in groups.items()]
    everywhere = [{"operator": "Exists"}]  # a taint keeps work off a node, not its disks
    on_these = _on([name for names in groups.values() for name in names])
    open_to_all = [host for host in hosts if not taints(2, host)]
    return {
        # If the kind went with the release, so would every volume's object, and the driver would remove the volume.
        "crd": {"annotations": {"helm.sh/resource-policy": "keep"}},
        "controller": {"replicaCount": 2 if len(open_to_all) > 1 else 1},  # two never share a node
        "lvmd": {**configurations[0], "additionalConfigs": configurations[1:]},
        "node": {"affinity": on_these, "tolerations": everywhere},
        "snapshot": {"enabled": False},  # thick volumes have none, and the sidecar wants CRDs that are not there
        "storageClasses": [
            _class(purpose) for purpose in VOLUME_PURPOSES if any(host.disk_gb(purpose) for host in hosts)
        ],
    }


def monitor(scrape_interval_s: int) -> Manifest:
    """Where Prometheus finds the driver's metrics: the room that is left on each node."""
    pods = {"app.kubernetes.io/name": "topolvm", "app.kubernetes.io/component": "node"}
    endpoints = [{"port": "metrics", "path": "/metrics", "interval": f"{scrape_interval_s}s"}]
    spec = {"selector": {"matchLabels": pods}, "podMetricsEndpoints": endpoints}
    metadata = {"name": "topolvm-node"}
    return {"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": metadata, "spec": spec}


class Storage(Component):
    """TopoLVM on every host that has drives for volumes.

    Whoever keeps volumes comes after `installed` as a whole: a node lets go of no pod whose volumes its driver is not
    there to unmount, so without that order an end of everything would never come.
    """

    def __init__(
        self,
        name: str,
        hosts: Sequence[Host],
        *,
        chart: Chart,
        to_api: Rule,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts, pod_security="privileged")  # it creates volumes on the host
        self.add(policy(name, ingress=[scrapes(METRICS_PORT)], egress=[names(), to_api]))
        told = values(hosts)
        self.installed = self.release(chart, told)
        classes = [each["name"] for each in told["storageClasses"]]
        self.register_outputs({"storage_classes": classes})

    def watch(self, *, scrape_interval_s: int, monitors: pulumi.Resource) -> None:
        """Let Prometheus in, later than the rest: it brings the kind of its monitors, and keeps volumes itself."""
        self.add(monitor(scrape_interval_s), after=[monitors])


def _by_purposes(hosts: Iterable[Host]) -> dict[tuple[Purpose, ...], list[str]]:
    """Host names by the purposes that their drives serve; hosts without such drives are left out."""
    groups: dict[tuple[Purpose, ...], list[str]] = {}
    for host in hosts:
        purposes = tuple(purpose for purpose in VOLUME_PURPOSES if host.disk_gb(purpose))
        if purposes:
            groups.setdefault(purposes, []).append(host.name)
    return groups


def _configuration(purposes: Sequence[Purpose], hosts: Sequence[str]) -> dict[str, Any]:
    classes = [
        {
            "name": purpose,
            "volume-group": volume_group(purpose),
            "default": purpose == purposes[-1],  # lvmd wants one; every storage class names its own all the same
            "spare-gb": SPARE_GB,
        }
        for purpose in purposes
    ]
    return {"deviceClasses": classes, "affinity": _on(hosts), "tolerations": [{"operator": "Exists"}]}


def _on(hosts: Sequence[str]) -> dict[str, Any]:
    wanted = {"key": "kubernetes.io/hostname", "operator": "In", "values": sorted(hosts)}
    terms = [{"matchExpressions": [wanted]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _class(purpose: Purpose) -> dict[str, Any]:
    return {
        "name": storage_class(purpose),
        "storageClass": {
            "fsType": "xfs",
            "reclaimPolicy": "Retain" if purpose in KEPT else "Delete",
            "volumeBindingMode": "WaitForFirstConsumer",  # the pod's node decides, since the disk is there
            "allowVolumeExpansion": True,
            "additionalParameters": {"topolvm.io/device-class": purpose},
        },
    }
