"""The objects of the gateway."""

from collections.abc import Mapping
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from components.base import PART_OF, Manifest
from components.base.pods import as_nobody, shut_in
from components.gateway.envoy import memory_mib
from components.gateway.place import Place
from rackwright.site.catalog import Image
from rackwright.site.gateway import Gateway

NAME = "gateway"
CONFIGURATION, CERTIFICATE = "gateway-configuration", "gateway-tls"
LABELS = {"app.kubernetes.io/name": "envoy", "app.kubernetes.io/instance": NAME}
SHARE = "rackwright/share"
USER = 101  # the image's own
WORKERS = 4
LEAVE_S, END_S = 15, 15
DRAIN = Path(__file__).parent / "drain.sh"


def certificate(gateway: Gateway, addresses: list[IPv4Address], issuer: str) -> Manifest:
    """What the door shows: its name, and the addresses at which it may be called without one."""
    spec = {
        "secretName": CERTIFICATE,
        "commonName": gateway.host[:64],
        "dnsNames": [gateway.host],
        "ipAddresses": [str(address) for address in addresses],
        "duration": "2160h0m0s",
        "renewBefore": "720h0m0s",
        "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
        "usages": ["digital signature", "server auth"],
        "issuerRef": {"group": "cert-manager.io", "kind": "ClusterIssuer", "name": issuer},
    }
    return {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": NAME}, "spec": spec}


def configuration(files: Mapping[str, Any]) -> Manifest:
    """The proxy's files; a Secret, since tenants' keys are in them."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": CONFIGURATION}, "stringData": dict(files)}


def deployment(gateway: Gateway, *, image: Image, version: Any, share: int = 0) -> Manifest:
    """The proxies; another version of the configuration replaces them one by one, each after its last request.

    Each shows the share of sessions that it sends on to another door, where it sends any.
    """
    shown = {"rackwright/configuration": version} | ({SHARE: str(share)} if share else {})
    template = {
        "metadata": {"labels": LABELS | PART_OF, "annotations": shown},
        "spec": _pod(gateway, image),
    }
    spec = {
        "replicas": gateway.replicas,
        "selector": {"matchLabels": LABELS},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "template": template,
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _named(), "spec": spec}


def service(gateway: Gateway, moving: IPv4Address | None = None) -> Manifest:
    """What tenants call: at the one server's own address, or at one that moves between nodes.

    Only where there is one server does a client's own address reach the log. One that moves is brought by a control
    host, where no proxy stands: it may send on, and puts its own in the client's place.
    """
    ports = [{"name": "https", "port": gateway.port, "targetPort": "https"}]
    spec: dict[str, Any] = {
        "type": "LoadBalancer",
        "externalTrafficPolicy": "Cluster" if moving else "Local",
        "selector": LABELS,
        "ports": ports,
    }
    if moving:
        spec["loadBalancerIP"] = str(moving)
    return {"apiVersion": "v1", "kind": "Service", "metadata": _named(), "spec": spec}


def budget() -> Manifest:
    """One proxy stays while a node is drained."""
    spec = {"minAvailable": 1, "selector": {"matchLabels": LABELS}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": _named(), "spec": spec}


def account() -> Manifest:
    """An identity without rights."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _named()}


def monitor(scrape_interval_s: int) -> Manifest:
    """Where Prometheus finds the proxies' metrics."""
    endpoints = [{"port": "metrics", "path": "/stats/prometheus", "interval": f"{scrape_interval_s}s"}]
    spec = {"selector": {"matchLabels": LABELS}, "podMetricsEndpoints": endpoints}
    return {"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": {"name": NAME}, "spec": spec}


def _named() -> dict[str, Any]:
    return {"name": NAME, "labels": LABELS | PART_OF}


def _pod(gateway: Gateway, image: Image) -> dict[str, Any]:
    return {
        "serviceAccountName": NAME,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": gateway.request_timeout_s + END_S,
        "dnsConfig": {"options": [{"name": "ndots", "value": "1"}]},  # names are whole: no search list before them
        "securityContext": as_nobody(USER, owns_volumes=True),
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",  # else both end up on one node after the other was drained
                "labelSelector": {"matchLabels": LABELS},
                "matchLabelKeys": ["pod-template-hash"],  # of a rollout, the new ones alone
                "nodeTaintsPolicy": "Honor",  # nodes that are down, drained or kept for others do not count
            }
        ],
        "containers": [_envoy(gateway, image, Place())],
        "volumes": [
            {"name": "configuration", "secret": {"secretName": CONFIGURATION}},
            {"name": "certificate", "secret": {"secretName": CERTIFICATE}},
        ],
    }


def command(place: Place) -> list[str]:
    """How the proxy is started; the image's own entrypoint would change owners of files first."""
    return [
        "envoy",
        *("-c", f"{place.configuration}/envoy.json"),
        "--disable-hot-restart",  # a pod is replaced, never its process
        *("--drain-strategy", "immediate"),
        *("--concurrency", str(WORKERS)),
        *("--log-level", "warning"),
    ]


def drain(place: Place, leave_s: int, limit_s: int) -> list[str]:
    """What is run before the proxy is told to end."""
    return ["bash", "-c", DRAIN.read_text(), "bash", str(place.admin_port), str(leave_s), str(limit_s)]


def _envoy(gateway: Gateway, image: Image, place: Place) -> dict[str, Any]:
    ready = {"httpGet": {"path": "/ready", "port": "metrics"}, "periodSeconds": 5, "timeoutSeconds": 3}
    return {
        "name": "envoy",
        "image": image.reference,
        "command": command(place),
        "ports": [
            {"name": "https", "containerPort": place.https_port},
            {"name": "metrics", "containerPort": place.metrics_port},
        ],
        "resources": {
            "requests": {"cpu": "1", "memory": "256Mi"},
            "limits": {"memory": f"{memory_mib(gateway)}Mi"},
        },
        "securityContext": shut_in(),
        "lifecycle": {"preStop": {"exec": {"command": drain(place, LEAVE_S, gateway.request_timeout_s)}}},
        "readinessProbe": ready | {"failureThreshold": 2},
        "livenessProbe": ready | {"failureThreshold": 12},
        "volumeMounts": [
            {"name": "configuration", "mountPath": place.configuration, "readOnly": True},
            {"name": "certificate", "mountPath": place.certificate, "readOnly": True},
        ],
    }
