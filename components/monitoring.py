"""Metrics: kube-prometheus-stack, which finds every target of the platform by its monitor, whoever made it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components.base import Chart, Component, Manifest, edition
from components.base.network import Rule, names, neighbours, policy
from rackwright.site.hosts import Host
from rackwright.site.monitoring import Monitoring as Settings
from rackwright.site.volumes import ALERTS_GB

ADMIN = "grafana-admin"
DASHBOARD = "grafana_dashboard"  # the label by which Grafana finds them
KEPT_SHARE = 0.85  # of the volume: the rest is for the write-ahead log and compaction
FOUND_BY = ("serviceMonitor", "podMonitor", "rule", "probe", "scrapeConfig")


def values(monitoring: Settings, *, site: str) -> dict[str, Any]:
    """What the chart is told for k3s, whose control plane is one process without metrics of its parts."""
    off = {"enabled": False}
    return {
        "alertmanager": {"alertmanagerSpec": {"storage": _volume(monitoring, ALERTS_GB)}},
        "grafana": _grafana(),
        "kubeControllerManager": off,
        "kubeEtcd": off,
        "kubeProxy": off,
        "kubeScheduler": off,
        "prometheus": {"prometheusSpec": _prometheus(monitoring, site)},
        # Rules are tested before they are shipped; without webhooks nothing needs a certificate or a job of Helm's.
        "prometheusOperator": {"admissionWebhooks": off, "tls": off},
    }


def administrator(password: Any) -> Manifest:
    """Grafana's first account."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": ADMIN},
        "stringData": {"admin-user": "admin", "admin-password": password},
    }


def rules(groups: Sequence[Mapping[str, Any]]) -> Manifest:
    """What Prometheus records and when it alerts."""
    metadata = {"name": "rackwright"}
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": metadata,
        "spec": {"groups": [*groups]},
    }


def dashboards(boards: Mapping[str, Mapping[str, Any]]) -> Manifest:
    """Grafana's dashboards, by the names of their files."""
    metadata = {
        "name": "rackwright-dashboards",
        "labels": {DASHBOARD: "1"},
        "annotations": {"grafana_folder": "Rackwright"},
    }
    files = {name: json.dumps(board, separators=(",", ":")) for name, board in boards.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": files}


class Monitoring(Component):
    """Prometheus, Alertmanager, Grafana and the nodes' exporter; `installed` brings the kinds that monitors are of."""

    def __init__(
        self,
        name: str,
        monitoring: Settings,
        *,
        chart: Chart,
        site: str,
        hosts: Sequence[Host],
        grafana_password: pulumi.Input[str],
        groups: Sequence[Mapping[str, Any]],
        boards: Mapping[str, Mapping[str, Any]],
        to_api: Rule,
        volumes: pulumi.Resource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts, pod_security="privileged", after=[volumes])  # the nodes' exporter reads the host
        inside = [neighbours()]
        self.add(policy(name, ingress=[{"from": inside}], egress=[names(), to_api, {"to": inside}]))
        self.add(targets(hosts))
        secret = self.add(administrator(grafana_password))
        # Does not wait: others need the kinds that it brings, not its pods, which are looked at by `rackwright check`.
        told = values(monitoring, site=site)
        # Grafana reads the password once, when it starts.
        told["grafana"]["podAnnotations"] = {"rackwright/password": edition(grafana_password)}
        self.installed = self.release(chart, told, wait=False, after=[secret])
        self.add(rules(groups), after=[self.installed])
        self.add(dashboards(boards))
        self.reached = {
            "grafana": f"http://{chart.name}-grafana.{name}.svc",
            "grafana_secret": f"{name}/{ADMIN}",
            "prometheus": f"http://{chart.name}-prometheus.{name}.svc:9090",
            "alertmanager": f"http://{chart.name}-alertmanager.{name}.svc:9093",
        }
        self.register_outputs(self.reached)


def targets(hosts: Sequence[Host]) -> Manifest:
    """Prometheus may read any pod, each of which decides whether it lets it in, and the nodes themselves."""
    nodes: list[Rule] = [{"ipBlock": {"cidr": f"{host.address}/32"}} for host in hosts]
    ways: list[Rule] = [{"to": [{"namespaceSelector": {}}]}, {"to": nodes}]
    return policy("targets", egress=ways, pods={"app.kubernetes.io/name": "prometheus"})


def _prometheus(monitoring: Settings, site: str) -> dict[str, Any]:
    return {
        "externalLabels": {"site": site},
        "retention": f"{monitoring.retention_days}d",
        "retentionSize": f"{int(monitoring.size_gb * 1000 * KEPT_SHARE)}MB",
        "scrapeInterval": f"{monitoring.scrape_interval_s}s",
        "scrapeTimeout": f"{min(10, monitoring.scrape_interval_s)}s",
        "storageSpec": _volume(monitoring, monitoring.size_gb),
        "resources": {"requests": {"cpu": "1", "memory": "4Gi"}, "limits": {"memory": "8Gi"}},
        # Else only monitors that bear this release's label are found, and the others are silently not scraped.
        **{f"{kind}SelectorNilUsesHelmValues": False for kind in FOUND_BY},
    }


def _grafana() -> dict[str, Any]:
    return {
        "admin": {"existingSecret": ADMIN, "userKey": "admin-user", "passwordKey": "admin-password"},
        "grafana.ini": {
            "analytics": {"reporting_enabled": False, "check_for_updates": False, "check_for_plugin_updates": False},
            # Data sources lie in the image; one that is to be renewed from outside is stopped first, and stays so.
            "plugins": {"preinstall_disabled": True},
            "users": {"allow_sign_up": False},
        },
        # Dashboards are ConfigMaps with this label, in whichever namespace; the annotation names their folder.
        "sidecar": {
            "dashboards": {
                "label": DASHBOARD,
                "labelValue": "1",
                "searchNamespace": "ALL",
                "folderAnnotation": "grafana_folder",
                "provider": {"foldersFromFilesStructure": True},
            }
        },
    }


def _volume(monitoring: Settings, size_gb: int) -> dict[str, Any]:
    spec = {
        "storageClassName": monitoring.storage_class,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{size_gb}G"}},
    }
    return {"volumeClaimTemplate": {"spec": spec}}
