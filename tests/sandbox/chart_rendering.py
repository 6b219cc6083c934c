"""What of a rendered chart the rest of a deployment can refer to, in a form that two renderings can be compared in."""

import subprocess
from pathlib import Path

import yaml

COMPARED = {
    "Alertmanager", "CSIDriver", "ClusterPolicy", "DaemonSet", "Deployment", "Job", "PersistentVolumeClaim",
    "PodDisruptionBudget", "PodMonitor", "PriorityClass", "Prometheus", "Secret", "Service", "ServiceAccount",
    "ServiceMonitor", "StatefulSet", "StorageClass",
}  # fmt: skip
LEFT_OUT_HOOKS = {"test", "post-delete", "pre-delete", "pre-upgrade"}
VERSIONED = {"helm.sh/chart", "app.kubernetes.io/version", "chart"}


class Loader(yaml.CSafeLoader):
    """PyYAML's loader, without its special meaning of a bare `=`."""


Loader.yaml_implicit_resolvers = {
    first: [each for each in resolvers if each[0] != "tag:yaml.org,2002:value"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def render(helm: str, chart: Path, values: Path, namespace: str) -> dict[str, dict]:
    """What a chart makes, by kind and name."""
    command = [helm, "template", chart.name, str(chart), "--namespace", namespace, "--values", str(values)]
    command += ["--kube-version", "1.36.3", "--api-versions", "monitoring.coreos.com/v1"]
    output = subprocess.run(command, capture_output=True, text=True, check=False)
    assert output.returncode == 0, output.stderr
    found = {}
    for each in yaml.load_all(output.stdout, Loader=Loader):
        if each and each["kind"] in COMPARED and not hooks(each) & LEFT_OUT_HOOKS:
            found[f"{each['kind']} {each['metadata']['name']}"] = seen_from_outside(each)
    return found


def hooks(each: dict) -> set[str]:
    return set(filter(None, ((each["metadata"].get("annotations") or {}).get("helm.sh/hook", "")).split(",")))


def seen_from_outside(each: dict) -> dict:  # noqa: C901 - one case a kind
    spec = each.get("spec") or {}
    seen = {} if each["kind"] == "ServiceAccount" else {"labels": stable(each["metadata"].get("labels"))}
    match each["kind"]:
        case "Deployment" | "StatefulSet" | "DaemonSet" | "Job":
            seen |= {"replicas": spec.get("replicas"), "serviceName": spec.get("serviceName")}
            seen |= {"selector": (spec.get("selector") or {}).get("matchLabels")}
            seen |= {"claims": sorted(claim(template) for template in spec.get("volumeClaimTemplates") or [])}
            seen |= {"pod": pod(spec["template"])}
        case "Service":
            seen |= {"selector": spec["selector"], "ports": sorted(port_of_service(port) for port in spec["ports"])}
            seen |= {"clusterIP": spec.get("clusterIP")}
        case "ServiceMonitor" | "PodMonitor":
            selector = spec["selector"] | {"matchLabels": stable(spec["selector"].get("matchLabels"))}
            endpoints = spec.get("endpoints") or spec.get("podMetricsEndpoints")
            known = {"port", "targetPort", "authorization"}
            seen |= {"selector": selector, "namespaces": spec.get("namespaceSelector"), "job": spec.get("jobLabel")}
            seen |= {"endpoints": {str({key: end[key] for key in end if key in known}) for end in endpoints}}
        case "Prometheus" | "Alertmanager":
            seen |= {key: spec.get(key) for key in spec if "Selector" in key or key in {"storage", "resources"}}
            seen |= {"serviceAccountName": spec["serviceAccountName"], "portName": spec["portName"]}
        case "PersistentVolumeClaim":
            seen |= {"claim": claim(each)}
        case "PodDisruptionBudget":
            seen |= {"spec": {key: spec.get(key) for key in ("maxUnavailable", "minAvailable", "selector")}}
        case "StorageClass":
            seen |= {key: each.get(key) for key in each if key not in {"metadata", "apiVersion"}}
        case "CSIDriver":
            seen |= {"spec": spec}
        case "Secret":
            seen |= {"keys": sorted({**(each.get("data") or {}), **(each.get("stringData") or {})})}
        case "ClusterPolicy":
            parts = ("driver", "toolkit", "dcgm", "dcgmExporter", "devicePlugin", "gfd", "migManager", "cdi")
            seen |= {part: (spec.get(part) or {}).get("enabled") for part in parts} | {"mig": spec.get("mig")}
    return seen


def stable(labels: dict | None) -> dict:
    return {key: value for key, value in (labels or {}).items() if key not in VERSIONED}


def claim(each: dict) -> tuple:
    spec = each["spec"]
    return each["metadata"]["name"], spec.get("storageClassName"), str(spec["resources"]), str(spec["accessModes"])


def port_of_service(port: dict) -> tuple:
    return port.get("name", ""), port["port"], str(port.get("targetPort", port["port"])), port.get("protocol", "TCP")


def pod(template: dict) -> dict:
    spec = template["spec"]
    return {
        "labels": stable(template["metadata"].get("labels")),
        "account": spec.get("serviceAccountName"),
        "priority": spec.get("priorityClassName"),
        "host": [spec.get(key) or False for key in ("hostNetwork", "hostPID", "hostIPC")],
        "nodes": spec.get("nodeSelector") or {},
        "non-root": (spec.get("securityContext") or {}).get("runAsNonRoot"),
        "seccomp": "seccompProfile" in (spec.get("securityContext") or {}),
        "first": sorted(each["name"] for each in spec.get("initContainers") or []),
        "containers": {each["name"]: container(each) for each in spec["containers"]},
        "refers to": sorted(references(spec)),
    }


def container(each: dict) -> dict:
    context = each.get("securityContext") or {}
    return {
        "ports": sorted((port.get("name", ""), port["containerPort"]) for port in each.get("ports") or []),
        "resources": each.get("resources") or {},
        "context": {key: context.get(key) for key in ("allowPrivilegeEscalation", "privileged", "capabilities")},
        "probes": sorted(key for key in each if key.endswith("Probe")),
    }


def references(spec: dict) -> set[str]:
    found = set()
    for volume in spec.get("volumes") or []:
        found |= {f"ConfigMap {volume['configMap']['name']}"} if "configMap" in volume else set()
        found |= {f"Secret {volume['secret']['secretName']}"} if "secret" in volume else set()
        found |= (
            {f"claim {volume['persistentVolumeClaim']['claimName']}"} if "persistentVolumeClaim" in volume else set()
        )
    for each in [*(spec.get("initContainers") or []), *spec["containers"]]:
        for variable in each.get("env") or []:
            reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
            found |= {f"Secret {reference['name']} {reference['key']}"} if reference else set()
    return found
