"""Certificates: cert-manager, and an authority of the site's own that signs for it."""

from typing import Any

import pulumi

from components.base import Chart, Component, Manifest
from components.base.network import Rule, from_anyone, names, policy

ISSUER = "rackwright"
ROOT = "rackwright-root"
AUTHORITY = "rackwright-ca"
WEBHOOK_PORT = 10250
YEAR_H = 8760


def values(namespace: str) -> dict[str, Any]:
    """What the chart is told."""
    return {
        "crds": {"enabled": True, "keep": True},
        "global": {"leaderElection": {"namespace": namespace}},  # nothing of ours in kube-system
    }


def root_issuer() -> Manifest:
    """What signs the authority's certificate: the authority itself."""
    return _issuer(ROOT, {"selfSigned": {}})


def authority(site: str) -> Manifest:
    """The authority's certificate; its key stays when it is renewed, so that clients keep trusting it."""
    return {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": AUTHORITY},
        "spec": {
            "isCA": True,
            "commonName": f"Rackwright {site}"[:64],  # X.509 takes no longer one
            "secretName": AUTHORITY,
            "duration": f"{10 * YEAR_H}h0m0s",
            "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Never"},
            "issuerRef": {"group": "cert-manager.io", "kind": "ClusterIssuer", "name": ROOT},
        },
    }


def issuer() -> Manifest:
    """What signs for the platform; its key must lie in cert-manager's own namespace."""
    return _issuer(ISSUER, {"ca": {"secretName": AUTHORITY}})


class Certificates(Component):
    """cert-manager with the site's own authority; `issuer` is the cluster issuer that others ask."""

    def __init__(
        self, name: str, site: str, *, chart: Chart, to_api: Rule, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        self.add(policy(name, ingress=[from_anyone(WEBHOOK_PORT)], egress=[names(), to_api]))
        # Until the chart's webhook is at work, the API server refuses every issuer and certificate.
        installed = self.release(chart, values(name))
        root = self.add(root_issuer(), after=[installed])
        signed = self.add(authority(site), after=[root])
        self.issuer = self.add(issuer(), after=[signed])
        self.authority_secret = f"{name}/{AUTHORITY}"
        self.register_outputs({"issuer": ISSUER, "authority_secret": self.authority_secret})


def _issuer(name: str, spec: dict[str, Any]) -> Manifest:
    return {"apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": {"name": name}, "spec": spec}
