"""What a node of a cluster bears: labels and taints by its host's roles, and how many pods it takes."""

from rackwright.site.hosts import Host, Phase

PREFIX = "rackwright"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
PODS, PODS_OF_AGENTS = 110, 220  # the kubelet's default; tools run in many small pods, and a /24 has room for 253


def labels(host: Host) -> dict[str, str]:
    """A label for each role, by which pods are placed: `rackwright/inference: "true"`."""
    return {f"{PREFIX}/{role}": "true" for role in host.roles}


def taints(phase: Phase, host: Host) -> list[dict[str, str]]:
    """Kubeadm's own taint where a host does nothing but control; a shared host and k3s's server take everything.

    GPUs have none: databases and vectors stand on the same hosts.
    """
    if phase == 2 and host.roles == ("control",):
        return [{"key": CONTROL_PLANE, "effect": "NoSchedule"}]
    return []


def pods(host: Host) -> int:
    """How many pods the kubelet takes."""
    return PODS_OF_AGENTS if "agents" in host.roles else PODS
