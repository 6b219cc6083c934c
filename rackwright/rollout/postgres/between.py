"""The way between both phases' servers, there only while data are copied: a port of the nodes, and who may use it.

The server's own node answers at the port and no other, so that whoever comes in still has the address by which
policies know it; who follows tries all hosts.
"""

from collections.abc import Sequence
from typing import Any

from rackwright.rollout.postgres.objects import AUTHORITY, CLIENT, CLUSTER, Side
from rackwright.rollout.way import Way
from rackwright.site.hosts import Host
from rackwright.site.postgresql import PORT_BETWEEN_PHASES
from rackwright.site.volumes import purpose_of

NAME = "between-phases"
LABELS = {"app.kubernetes.io/part-of": "rackwright"}
SQL_PORT = 5432
Object = dict[str, Any]


def sides(way: Way) -> tuple[Side, Side]:
    """Phase 1's and phase 2's server of a site, on hosts whose drives hold databases."""
    first, second = (_side(way, phase, hosts) for phase, hosts in ((1, way.old), (2, way.new)))
    return first, second


def service(own: Side) -> Object:
    """The server's port at its node."""
    port = {"name": "postgres", "port": SQL_PORT, "targetPort": SQL_PORT, "nodePort": own.port}
    selector = {"cnpg.io/cluster": CLUSTER, "cnpg.io/instanceRole": "primary"}
    spec = {"type": "NodePort", "externalTrafficPolicy": "Local", "selector": selector, "ports": [port]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": _metadata(NAME), "spec": spec}


def policy(other: Side) -> Object:
    """Its pods may be reached from the other phase's hosts, and reach them; nobody else."""
    hosts = [{"ipBlock": {"cidr": f"{host}/32"}} for host in other.host.split(",")]
    spec = {
        "podSelector": {"matchLabels": {"cnpg.io/cluster": CLUSTER}},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": hosts, "ports": [{"protocol": "TCP", "port": SQL_PORT}]}],
        "egress": [{"to": hosts, "ports": [{"protocol": "TCP", "port": other.port}]}],
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": _metadata(NAME),
        "spec": spec,
    }


def secrets_of(side: Side) -> dict[str, tuple[str, tuple[str, ...]]]:
    """What the other phase needs of it: by the name there, the operator's Secret here and its keys.

    Of the authority only what it is known by: its key would vouch for anybody.
    """
    return {
        side.client_secret: (f"{CLUSTER}-{CLIENT}", ("tls.crt", "tls.key")),
        side.authority_secret: (f"{CLUSTER}-{AUTHORITY}", ("ca.crt",)),
    }


def secret(name: str, data: dict[str, str]) -> Object:
    """One of them, as the other phase keeps it; the operator reads it again when it changes."""
    metadata = _metadata(name)
    metadata["labels"] = {**LABELS, "cnpg.io/reload": "true"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}


def _metadata(name: str) -> Object:
    return {"name": name, "labels": LABELS}


def _side(way: Way, phase: int, hosts: Sequence[Host]) -> Side:
    purpose = purpose_of(way.site.postgresql.storage_class)
    keeping = [host for host in hosts if purpose and host.disk_gb(purpose)]
    return Side(
        f"{way.site.name}-phase{phase}",
        ",".join(str(host.address) for host in keeping or hosts),
        PORT_BETWEEN_PHASES,
        f"phase{phase}-{CLIENT}",
        f"phase{phase}-{AUTHORITY}",
        is_copy=phase == 2,
    )
