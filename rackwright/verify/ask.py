"""What a host is asked beside the questions of preflight: the arguments of the role verify."""

from typing import Any

from rackwright.preflight.needs import is_control
from rackwright.site.hosts import Host, Phase
from rackwright.site.site import Site

KUBECTL: dict[Phase, list[str]] = {
    1: ["/usr/local/bin/k3s", "kubectl"],
    2: ["/usr/bin/kubectl", "--kubeconfig=/etc/kubernetes/admin.conf"],
}
CONTAINERD: dict[Phase, list[str]] = {
    1: ["/var/lib/rancher/k3s/agent/etc/containerd/config.toml"],
    2: ["/etc/containerd/config.toml", "/etc/containerd/conf.d/*.toml"],
}
CERTIFICATES: dict[Phase, list[str]] = {
    1: [f"/var/lib/rancher/k3s/{folder}/*.crt" for folder in ("server/tls", "server/tls/etcd", "agent")],
    2: [
        "/etc/kubernetes/pki/*.crt",
        "/etc/kubernetes/pki/etcd/*.crt",
        "/var/lib/kubelet/pki/kubelet-client-current.pem",
        "/var/lib/kubelet/pki/kubelet.crt",
    ],
}


def asked(site: Site, host: Host, phase: Phase) -> dict[str, Any]:
    """Everything that a host is asked, as plain data; where it needs no answer, nothing is asked."""
    return {
        "kubectl": KUBECTL[phase] if is_control(site, host, phase) else [],
        "containerd": CONTAINERD[phase] if host.gpus else [],
        "certificates": CERTIFICATES[phase],
        "volumes": bool(host.disks),
        "gpus": host.gpus is not None,
    }
