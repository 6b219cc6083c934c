"""What stands in for kubelets, drivers and operators: KWOK Stages, each with a sentence that says what it plays.

The YAML files beside this one hold them; `operators/` those that play somebody's operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
PLAYS = "rackwright/plays"
STORAGE_CLASSES = ("nvme-models", "nvme-vectors", "nvme-database", "nvme-scratch")
MONITORING_SERVERS = {"Prometheus": 9090, "Alertmanager": 9093}
# From the block that is reserved for documentation, so nothing of anybody's answers there.
LOAD_BALANCER_ADDRESS = IPv4Address("192.0.2.10")


@dataclass(frozen=True)
class Played:
    """What one Stage stands in for."""

    name: str
    kind: str
    sentence: str


def objects(
    storage_classes: Sequence[str] = STORAGE_CLASSES, load_balancer_address: IPv4Address | str = LOAD_BALANCER_ADDRESS
) -> list[dict[str, Any]]:
    """All Stages, for claims of these storage classes and with this address for every load balancer."""
    of_our_classes = {"jq": {"key": ".spec.storageClassName", "operator": "In", "values": list(storage_classes)}}
    stages = [*_read("nodes.yaml"), *_read("pods.yaml")]
    for stage in _read("volumes.yaml") if storage_classes else []:
        stage["spec"]["selector"]["matchExpressions"].append(of_our_classes)
        stages.append(stage)
    stages += _read("load_balancers.yaml", ADDRESS=str(load_balancer_address))
    for kind, port in MONITORING_SERVERS.items():
        stages += _read("monitoring_servers.yaml", KIND=kind, NAME=kind.lower(), PORT=str(port))
    for file in sorted((FOLDER / "operators").glob("*.yaml")):
        stages += _read(f"operators/{file.name}")
    return stages


def played(stages: Iterable[dict[str, Any]]) -> list[Played]:
    """What the Stages stand in for, by name."""
    return [
        Played(stage["metadata"]["name"], stage["spec"]["resourceRef"]["kind"], stage["metadata"]["annotations"][PLAYS])
        for stage in stages
    ]


@cache
def _text(name: str) -> str:
    return (FOLDER / name).read_text()


def _read(name: str, **replaced: str) -> list[dict[str, Any]]:
    text = _text(name)
    for placeholder, value in replaced.items():
        text = text.replace(placeholder, value)
    return list(yaml.safe_load_all(text))
