"""What a namespace's pods and jobs must be like, asked by the API server itself when they are made."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from components.base.objects import PART_OF, Manifest
from rackwright.site.hosts import Role
from rackwright.site.node_marks import mark

API_VERSION = "admissionregistration.k8s.io/v1"
OF_EVERY_NODE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")  # the API server adds them itself
CONTAINERS = ("object.spec.containers", "object.spec.?initContainers.orValue([])")  # two types, which CEL never joins


class Demand(NamedTuple):
    """What must be true, as CEL over `object`, and what is said where it is not."""

    expression: str
    message: str


def admission(name: str, namespace: str, resource: str, demands: Iterable[Demand], *, changes: bool) -> list[Manifest]:
    """A policy over one kind (`pods`, or `batch/jobs`) and its binding to a namespace; what breaks it is denied.

    `changes` judges updates too. Not of pods: nearly nothing of one can be changed, and once it has a node every
    update would be judged as if its maker had chosen that.
    """
    group, _, plural = resource.rpartition("/")
    rule = {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "operations": ["CREATE", *(["UPDATE"] if changes else [])],
        "resources": [plural],
    }
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": each.expression, "message": each.message} for each in demands],
    }
    here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    binding = {"policyName": name, "validationActions": ["Deny"], "matchResources": here}
    return [
        _object("ValidatingAdmissionPolicy", name, spec),
        _object("ValidatingAdmissionPolicyBinding", name, binding),
    ]


def placed(role: Role, *, tolerating: Sequence[str] = ()) -> list[Demand]:
    """On hosts of a role and no others, chosen by the scheduler; `tolerating` names further taints that it may bear."""
    label, keys = mark(role), [mark(role), *tolerating, *OF_EVERY_NODE]
    allowed = ", ".join(f"'{key}'" for key in keys)
    tolerations = "object.spec.?tolerations.orValue([])"
    return [
        Demand(
            f"object.spec.?nodeSelector[?'{label}'].orValue('') == 'true'",
            f"write nodeSelector {label}: 'true': this namespace's pods run on hosts for {role} only",
        ),
        Demand(
            f"{tolerations}.exists(each, has(each.key) && each.key == '{label}')",
            f"tolerate {label}, the taint of hosts for {role}",
        ),
        Demand(
            f"{tolerations}.all(each, has(each.key) && each.key in [{allowed}])",
            f"tolerate nothing but {', '.join(keys)}",
        ),
        Demand("!has(object.spec.nodeName)", "leave nodeName out: the scheduler chooses among the hosts"),
    ]


def every_container(condition: str) -> str:
    """What holds of `each` container, those before the others as well."""
    return " && ".join(f"{containers}.all(each, {condition})" for containers in CONTAINERS)


def ranked(priority_class: str) -> Demand:
    """Of one priority class."""
    return Demand(
        f"object.spec.?priorityClassName.orValue('') == '{priority_class}'",
        f"write priorityClassName: {priority_class}",
    )


def priority_class(name: str, value: int, description: str) -> Manifest:
    """A rank below the platform's own pods, which have 0, that takes nobody's place."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name, "labels": PART_OF},
        "value": value,
        "preemptionPolicy": "Never",
        "description": description,
    }


def _object(kind: str, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name, "labels": PART_OF}, "spec": spec}
