"""The objects of the router: pools and objectives beside the engines, pickers in a namespace of their own."""

import json
from typing import Any, get_args

from components.base import PART_OF, Manifest
from components.llm_d.definitions import OBJECTIVE_GROUP, OBJECTIVE_VERSION, POOL_GROUP, POOL_VERSION
from rackwright.site.models import Model
from rackwright.site.priorities import objective, of_router
from rackwright.site.tenants import PriorityClass

NAME, ACCOUNT = "llm-d-router", "router"
PICK_PORT = 9002
# One is asked, and knows what it chose before; the other stands by, and is asked while the first is away.
PICKERS = 2
FILE = "picker.json"


def pool(model: Model, *, selector: dict[str, str], port: int) -> Manifest:
    """The replicas that one picker chooses among.

    Whom to ask is a field for gateways that read pools. Ours is told by its configuration; the name that stands here
    is the picker's in the router's namespace.
    """
    spec = {
        "selector": {"matchLabels": selector},
        "targetPorts": [{"number": port}],
        "endpointPickerRef": {
            "group": "",
            "kind": "Service",
            "name": model.name,
            "port": {"number": PICK_PORT},
            "failureMode": "FailOpen",
        },
    }
    metadata = {"name": model.name, "labels": PART_OF}
    return {
        "apiVersion": f"{POOL_GROUP}/{POOL_VERSION}",
        "kind": "InferencePool",
        "metadata": metadata,
        "spec": spec,
    }


def objectives(model: Model, pool: str | None = None) -> list[Manifest]:
    """How urgent each class of requests to a model is: higher goes first, below zero may be held back for long.

    Each belongs to a pool: the model's own, or the named one that another component makes.
    """
    return [
        {
            "apiVersion": f"{OBJECTIVE_GROUP}/{OBJECTIVE_VERSION}",
            "kind": "InferenceObjective",
            "metadata": {"name": objective(model.name, each), "labels": PART_OF},
            "spec": {
                "priority": of_router(each),
                "poolRef": {"group": POOL_GROUP, "kind": "InferencePool", "name": pool or model.name},
            },
        }
        for each in get_args(PriorityClass)
    ]


def role() -> Manifest:
    """What pickers read beside the engines: the pods, their pools, the objectives. Nothing is written."""
    reads = {"verbs": ["get", "list", "watch"]}
    rules = [
        {"apiGroups": [""], "resources": ["pods"]} | reads,
        {"apiGroups": [POOL_GROUP], "resources": ["inferencepools"]} | reads,
        {"apiGroups": [OBJECTIVE_GROUP], "resources": ["inferenceobjectives", "inferencemodelrewrites"]} | reads,
    ]
    metadata = {"name": ACCOUNT, "labels": PART_OF}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": rules}


def binding(namespace: str) -> Manifest:
    """Those rights for the pickers' identity, which is in the router's namespace."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": ACCOUNT, "labels": PART_OF},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT},
    }


def account() -> Manifest:
    """The pickers' identity."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "labels": PART_OF}}


def settings(model: Model, configuration: dict[str, Any]) -> Manifest:
    """The pickers' file; JSON is YAML."""
    data = {FILE: json.dumps(configuration, indent=1)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named(model), "data": data}


def service(model: Model) -> Manifest:
    """The pickers' own names."""
    ports = [{"name": "grpc", "port": PICK_PORT, "targetPort": "grpc"}]
    spec = {"clusterIP": "None", "selector": labels(model), "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": named(model), "spec": spec}


def budget(model: Model) -> Manifest:
    """One picker stays while a node is drained."""
    spec = {"minAvailable": 1, "selector": {"matchLabels": labels(model)}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": named(model), "spec": spec}


def monitor(scrape_interval_s: int) -> Manifest:
    """Where Prometheus finds the pickers' metrics: one for all of them."""
    endpoints = [{"port": "metrics", "path": "/metrics", "interval": f"{scrape_interval_s}s"}]
    spec = {"selector": {"matchLabels": {"app.kubernetes.io/name": NAME}}, "podMetricsEndpoints": endpoints}
    return {"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": {"name": NAME}, "spec": spec}


def pickers(model: Model, namespace: str) -> list[str]:
    """Where a proxy asks, the first one first."""
    name = model.name
    return [f"{name}-{number}.{name}.{namespace}.svc.cluster.local:{PICK_PORT}" for number in range(PICKERS)]


def labels(model: Model) -> dict[str, str]:
    """What tells the pickers of one model from all others."""
    return {"app.kubernetes.io/name": NAME, "app.kubernetes.io/instance": model.name}


def named(model: Model) -> dict[str, Any]:
    """Metadata of an object of the pickers' own."""
    return {"name": model.name, "labels": labels(model) | PART_OF}
