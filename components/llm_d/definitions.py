"""The kinds of objects that the router reads, as far as we write them.

Upstream's own definitions (inference extension 1.5, router 0.10) know more: statuses, and fields that nothing here
sets. What these two take, upstream's take as well.
"""

from typing import Any

from components.base import PART_OF, Manifest

POOL_GROUP, POOL_VERSION = "inference.networking.k8s.io", "v1"
OBJECTIVE_GROUP, OBJECTIVE_VERSION = "llm-d.ai", "v1alpha2"
# Kubernetes keeps groups under k8s.io for itself, and wants to see where one was agreed on.
AGREED = {"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api-inference-extension/pull/1173"}
Schema = dict[str, Any]


def definitions() -> list[Manifest]:
    """Pools of replicas, and how urgent requests to one are."""
    return [
        _definition(POOL_GROUP, POOL_VERSION, "InferencePool", _pool(), AGREED),
        _definition(OBJECTIVE_GROUP, OBJECTIVE_VERSION, "InferenceObjective", _objective(), {}),
    ]


def _pool() -> Schema:
    port = _object({"number": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 65535}}, "number")
    picker = {
        "group": _text(0),
        "kind": _text(1),
        "name": _text(1),
        "port": port,
        "failureMode": {"type": "string", "enum": ["FailOpen", "FailClose"]},
    }
    matched = {"type": "object", "additionalProperties": _text(0), "minProperties": 1}
    return _object(
        {
            "selector": _object({"matchLabels": matched}, "matchLabels"),
            "targetPorts": {"type": "array", "items": port, "minItems": 1, "maxItems": 8},
            "endpointPickerRef": _object(picker, "name"),
        },
        "selector",
        "targetPorts",
        "endpointPickerRef",
    )


def _objective() -> Schema:
    pool = _object({"group": _text(0), "kind": _text(1), "name": _text(1)}, "name")
    return _object({"poolRef": pool, "priority": {"type": "integer", "format": "int32"}}, "poolRef")


def _definition(group: str, version: str, kind: str, spec: Schema, annotations: dict[str, str]) -> Manifest:
    plural = f"{kind.lower()}s"
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    # The router writes no status; a gateway of others may, and is not held up.
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
        "subresources": {"status": {}},
    }
    metadata: dict[str, Any] = {"name": f"{plural}.{group}", "labels": PART_OF}
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [served]},
    }


def _object(properties: dict[str, Schema], *required: str) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}


def _text(at_least: int) -> Schema:
    return {"type": "string", "minLength": at_least, "maxLength": 253}
