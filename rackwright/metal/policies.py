"""What the API server writes down of its callers, and what it lets pods be where a namespace says nothing."""

from typing import Any

AUDIT_VERSION = "audit.k8s.io/v1"
ADMISSION_VERSION = "apiserver.config.k8s.io/v1"
POD_SECURITY_VERSION = "pod-security.admission.config.k8s.io/v1"
OWN_NAMESPACE = "kube-system"  # the load balancer's pods in it take ports of the node
CHATTER = ("system:kube-scheduler", "system:kube-controller-manager", "system:kube-proxy", "system:apiserver")


def audit_policy() -> dict[str, Any]:
    """Who did what to which object, and never what stood in it: bodies would hold secrets."""
    return {
        "apiVersion": AUDIT_VERSION,
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [
            {"level": "None", "nonResourceURLs": ["/healthz*", "/livez*", "/readyz*", "/version", "/metrics"]},
            {"level": "None", "resources": [{"group": "", "resources": ["events"]}, {"group": "events.k8s.io"}]},
            {"level": "None", "resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}]},
            # The cluster's own parts look at everything all the time; what they change is written down.
            {"level": "None", "users": list(CHATTER), "verbs": ["get", "list", "watch"]},
            {"level": "None", "userGroups": ["system:nodes"], "verbs": ["get", "list", "watch"]},
            {"level": "Metadata"},
        ],
    }


def admission(exempt: tuple[str, ...] = (OWN_NAMESPACE,)) -> dict[str, Any]:
    """Pods are held to `restricted`, unless their namespace's own label says otherwise or it is exempt."""
    modes = ("enforce", "audit", "warn")
    return {
        "apiVersion": ADMISSION_VERSION,
        "kind": "AdmissionConfiguration",
        "plugins": [
            {
                "name": "PodSecurity",
                "configuration": {
                    "apiVersion": POD_SECURITY_VERSION,
                    "kind": "PodSecurityConfiguration",
                    "defaults": dict.fromkeys(modes, "restricted") | {f"{mode}-version": "latest" for mode in modes},
                    "exemptions": {"usernames": [], "runtimeClasses": [], "namespaces": list(exempt)},
                },
            }
        ],
    }
