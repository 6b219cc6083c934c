"""Where the proxy listens and finds its files."""

from dataclasses import dataclass

TENANT_HEADER, CLASS_HEADER = "x-rackwright-tenant", "x-rackwright-class"


@dataclass(frozen=True)
class Place:
    """Addresses, ports and folders of one proxy: those of its pod, unless a test says otherwise."""

    address: str = "0.0.0.0"  # noqa: S104 - the pod's own address, behind a policy
    https_port: int = 8443
    metrics_port: int = 9902
    admin_port: int = 9901
    configuration: str = "/etc/envoy"
    certificate: str = "/etc/envoy-certificate"
