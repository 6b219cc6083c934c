"""Kubernetes objects that several tests need."""

from typing import Any


def node(name: str, gpus: int = 0, labels: dict[str, str] | None = None) -> dict[str, Any]:
    """A machine that KWOK plays."""
    room = {"cpu": "32", "memory": "256Gi", "pods": "110"} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    blank = ("architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "machineID")
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name} | (labels or {})},
        "status": {
            "capacity": room,
            "allocatable": room,
            "nodeInfo": dict.fromkeys((*blank, "operatingSystem", "osImage", "systemUUID"), "")
            | {"kubeletVersion": "v1.36.3"},
        },
    }


def namespace(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def pod_spec(where: str, gpus: int = 0, claim: str | None = None) -> dict[str, Any]:
    """A pod that only fits on machines of one label."""
    container: dict[str, Any] = {"name": "c", "image": "anything"}
    if gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    spec: dict[str, Any] = {"nodeSelector": {"test": where}, "containers": [container]}
    if claim:
        spec["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]
        container["volumeMounts"] = [{"name": "v", "mountPath": "/v"}]
    return spec


def deployment(name: str, space: str, replicas: int, spec: dict[str, Any]) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": space},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def storage_class(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "topolvm.io",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def claim(name: str, space: str, of_class: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": space},
        "spec": {
            "storageClassName": of_class,
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def definition(kind: str, plural: str, group: str, scope: str = "Namespaced", version: str = "v1") -> dict[str, Any]:
    """A custom resource definition that takes everything."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": plural},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                }
            ],
        },
    }
