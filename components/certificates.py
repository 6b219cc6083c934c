"""Certificates: cert-manager, which signs by the site's own authority, one for both phases."""

from typing import Any

import pulumi

from components.base import Chart, Component, Manifest
from components.base.network import Rule, from_anyone, names, policy

ISSUER = AUTHORITY = "rackwright-authority"
WEBHOOK_PORT = 10250


def values(namespace: str) -> dict[str, Any]:
    """What the chart is told."""
    return {
        "crds": {"enabled": True, "keep": True},
        "global": {"leaderElection": {"namespace": namespace}},  # nothing of ours in kube-system
    }


def authority(certificate: pulumi.Input[str], key: pulumi.Input[str]) -> Manifest:
    """The authority; cert-manager takes it out of its own namespace alone."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": AUTHORITY},
        "type": "kubernetes.io/tls",
        "stringData": {"tls.crt": certificate, "tls.key": key},
    }


def issuer() -> Manifest:
    """What signs for the platform."""
    return {
        "apiVersion": "cert-manager.io/v1",
        "kind": "ClusterIssuer",
        "metadata": {"name": ISSUER},
        "spec": {"ca": {"secretName": AUTHORITY}},
    }


class Certificates(Component):
    """cert-manager with the site's own authority, both in PEM; `issuer` is the cluster issuer that others ask."""

    def __init__(
        self,
        name: str,
        *,
        certificate: pulumi.Input[str],
        key: pulumi.Input[str],
        chart: Chart,
        to_api: Rule,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts)
        self.add(policy(name, ingress=[from_anyone(WEBHOOK_PORT)], egress=[names(), to_api]))
        # Until the chart's webhook is at work, the API server refuses every issuer and certificate.
        installed = self.release(chart, values(name))
        self.issuer = self.add(issuer(), after=[installed, self.add(authority(certificate, key))])
        self.authority_secret = f"{name}/{AUTHORITY}"
        self.register_outputs({"issuer": ISSUER, "authority_secret": self.authority_secret})
