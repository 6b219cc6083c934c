"""Who may go out may come in there, and the other way round; what is selected is there, with the ports named."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from google.protobuf import json_format

from rackwright.site.lws_names import leading
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
NAMESPACE = "kubernetes.io/metadata.name"
ELSEWHERE = {"kube-system"}  # the names' own pods let everybody in
Labels = dict[str, str]
# Pods that operators make, by a label of theirs: what is in them is not ours to look at.
OTHERS = {"cnpg.io/cluster": "postgres", "app.kubernetes.io/name": "topolvm"}
OF_KSERVE = {"app.kubernetes.io/part-of": "llminferenceservice"}


class End(NamedTuple):
    """Some pods: of a namespace, or of all that are labelled for it (None); with these labels."""

    namespace: str | None
    pods: Labels

    def meets(self, other: "End") -> bool:
        same = self.namespace == other.namespace or self.namespace is None
        return same and all(other.pods.get(key, value) == value for key, value in self.pods.items())


class Way(NamedTuple):
    """From some pods to others, at a port or (None) at any."""

    source: End
    target: End
    port: int | None

    def meets(self, other: "Way") -> bool:
        ends = self.source.meets(other.source) or other.source.meets(self.source)
        targets = self.target.meets(other.target) or other.target.meets(self.target)
        return ends and targets and (None in (self.port, other.port) or self.port == other.port)


@pytest.fixture(scope="module", params=["lab", "divided", "spanning", "kserve_rack"])
def manifests(request, lay) -> list[dict[str, Any]]:
    """Everything of phase 2 that is no chart."""
    shape = ROOT / "tests" / "fixtures" / "valid" / f"{request.param}.yml"
    laid = lay(Site.load(shape if shape.exists() else ROOT / "inventory" / request.param), phase=2)
    found = [json_format.MessageToDict(each.object) for each in laid.resources if each.type.startswith("kubernetes:")]
    return [each for each in found if "kind" in each]


def of_kind(manifests, *kinds: str) -> list[dict[str, Any]]:
    return [each for each in manifests if each["kind"] in kinds]


def ways(manifests, direction: str) -> Iterator[Way]:
    """What policies say of pods on both sides; addresses are no pods."""
    side, peers = direction, "from" if direction == "ingress" else "to"
    for each in of_kind(manifests, "NetworkPolicy"):
        namespace = each["metadata"]["namespace"]
        own = End(namespace, (each["spec"].get("podSelector") or {}).get("matchLabels", {}))
        for rule in each["spec"].get(side, []):
            ports = [int(port["port"]) for port in rule.get("ports", [])] or [None]
            for peer in rule.get(peers, [{"namespaceSelector": {}}]):  # none: whoever it is
                if "ipBlock" in peer:
                    continue
                other = end(peer, namespace)
                pair = (other, own) if side == "ingress" else (own, other)
                yield from (Way(*pair, port) for port in ports)


def end(peer: dict[str, Any], namespace: str) -> End:
    pods = (peer.get("podSelector") or {}).get("matchLabels", {})
    if "namespaceSelector" not in peer:
        return End(namespace, pods)
    return End((peer["namespaceSelector"] or {}).get("matchLabels", {}).get(NAMESPACE), pods)


def test_who_is_let_in_is_let_out_there(manifests):
    out = list(ways(manifests, "egress"))
    for way in ways(manifests, "ingress"):
        if way.source.namespace is not None:  # namespaces that people make and label have no policy of ours
            assert any(way.meets(each) for each in out), way


def test_who_is_let_out_is_let_in_there(manifests):
    into = list(ways(manifests, "ingress"))
    for way in ways(manifests, "egress"):
        if way.target.namespace is not None and way.target.namespace not in ELSEWHERE:
            assert any(way.meets(each) for each in into), way


def templates(manifests) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Whatever makes pods, with what it makes them from."""
    for each in of_kind(manifests, "Deployment", "StatefulSet", "DaemonSet"):
        yield each, each["spec"]["template"]
    for each in of_kind(manifests, "LeaderWorkerSet"):
        made = each["spec"]["leaderWorkerTemplate"]
        leader = made["leaderTemplate"]  # its controller adds the label
        labels = leading(leader["metadata"]["labels"])
        yield each, leader | {"metadata": {"labels": labels}}
        yield each, made["workerTemplate"]


def pods(manifests) -> list[tuple[str, Labels, dict[str, int]]]:
    """Namespace, labels and ports of the pods of everything that makes some."""
    made = []
    for each, template in templates(manifests):
        inside = [*template["spec"]["containers"], *template["spec"].get("initContainers", [])]
        ports = {port["name"]: int(port["containerPort"]) for one in inside for port in one.get("ports", [])}
        made.append((each["metadata"]["namespace"], template["metadata"]["labels"], ports))
    return made


def wanted(each: dict[str, Any]) -> tuple[Labels, list[str | int]]:
    """Whom an object selects, and at which ports."""
    spec = each["spec"]
    if each["kind"] == "Service":
        return spec["selector"], [port["targetPort"] for port in spec["ports"]]
    if each["kind"] == "InferencePool":
        return spec["selector"]["matchLabels"], [int(port["number"]) for port in spec["targetPorts"]]
    return spec["selector"]["matchLabels"], [port["port"] for port in spec.get("podMetricsEndpoints", [])]


def test_what_is_selected_is_there_with_its_ports(manifests):
    made, looked_at = pods(manifests), 0
    for each in of_kind(manifests, "Service", "PodMonitor", "PodDisruptionBudget", "InferencePool"):
        selected, ports = wanted(each)
        if selected.items() & (OTHERS.items() | OF_KSERVE.items()):
            continue
        found = [
            offered
            for namespace, labels, offered in made
            if namespace == each["metadata"]["namespace"] and selected.items() <= labels.items()
        ]
        assert found, each["metadata"]
        for offered in found:
            assert set(ports) <= {*offered, *offered.values()}, (each["metadata"], offered)
        looked_at += 1
    assert looked_at > 5
