"""What phase 2 registers over what it shares with phase 1: what is configured anew, and what only a cluster has."""

import json
from pathlib import Path

import pytest
from google.protobuf import json_format

from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
NAMES = Path(__file__).with_name("phase2_lab_names.txt")
LAB = Site.load(ROOT / "inventory" / "lab")
MOST = 135  # resources: llm-d's are seven a model, as long as its release wants an objective of each class


@pytest.fixture(scope="module")
def lab(lay):
    return lay(LAB, phase=2)


def test_names_of_phase_2_are_those_that_they_were(lab):
    names = sorted(f"{each.type} {each.name}" for each in lab.resources if not each.type.startswith("pulumi:"))
    assert "\n".join(names) + "\n" == NAMES.read_text()


def test_phase_2_has_few_resources(lab):
    assert len(lab.resources) <= MOST


def test_whatever_both_phases_have_bears_one_name(lay, lab):
    """Data that is replicated, and clients that are moved, find it under the name that they know."""
    shared = ("Namespace", "Service", "Cluster", "Database", "Certificate")

    def kept(resources):
        return {each.name for each in resources if each.type.rpartition(":")[2] in shared}

    assert kept(lay(LAB, phase=1).resources) <= kept(lab.resources)


def test_both_phases_sign_by_one_authority(lay, lab):
    """The vault's, so that phase 1's door trusts phase 2's, and clients trust both."""
    first, second = lay(LAB, phase=1), lab
    for name, kind in (("certificates/rackwright-authority", ":Secret"), ("gateway/gateway", ":Certificate")):
        told = [json_format.MessageToDict(each.named(name, kind).object) for each in (first, second)]
        if kind == ":Secret":
            assert told[0] == told[1]
            assert told[0]["stringData"]["tls.crt"]
        else:
            assert told[0]["spec"]["issuerRef"] == told[1]["spec"]["issuerRef"]
            assert told[0]["spec"]["issuerRef"]["name"] == "rackwright-authority"


def test_data_survives_a_node(lab):
    qdrant = lab.manifest("qdrant/qdrant", ":Release")["values"]
    assert qdrant["replicaCount"] == LAB.vectors.phase2.replicas == 3
    assert qdrant["config"]["cluster"]["enabled"]
    assert lab.manifest("postgres/postgres", ":Cluster")["spec"]["instances"] == 3


def test_engines_let_the_gateway_and_the_router_in_and_nobody_else(lab):
    ways = lab.manifest("models/models", ":NetworkPolicy")["spec"]["ingress"]
    spaces = [peer["namespaceSelector"]["matchLabels"] for way in ways for peer in way["from"]]
    assert {space["kubernetes.io/metadata.name"] for space in spaces} == {"gateway", "router", "monitoring"}


def test_the_gateway_asks_the_pickers(lab):
    assert set(lab.outputs["gateway"]["models"]) == {model.name for model, _ in LAB.models_in(2)}
    assert '"router"' in json.dumps(lab.manifest("gateway/gateway", ":NetworkPolicy")["spec"]["egress"])


def test_the_door_moves_between_nodes(lab):
    assert lab.outputs["gateway"]["address"] == str(LAB.gateway.address)
    assert str(LAB.gateway.address) in json.dumps(lab.manifest("gateway/gateway", ":Service"))


@pytest.mark.parametrize(("model", "serving"), LAB.models_in(2), ids=lambda each: getattr(each, "name", ""))
def test_engines_take_the_urgent_first(lab, model, serving):
    spec = lab.manifest(f"models/{model.name}", ":StatefulSet")["spec"]
    assert spec["replicas"] == serving.replicas
    (engine,) = spec["template"]["spec"]["containers"]
    assert "--scheduling-policy=priority" in engine["command"]


@pytest.mark.parametrize("pool", ["agents", "training"])
def test_a_pool_takes_no_place_from_what_serves(lab, pool):
    rank = lab.manifest(f"{pool}/rackwright-{pool}", ":PriorityClass")
    assert rank["preemptionPolicy"] == "Never"
    assert rank["value"] < 0


def test_tools_reach_names_the_gateway_and_what_the_site_names(lab):
    ways = lab.manifest("agents/agents", ":NetworkPolicy")["spec"]["egress"]
    peers = [peer for way in ways for peer in way["to"]]
    spaces = {
        peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
        for peer in peers
        if "ipBlock" not in peer
    }
    assert spaces == {"kube-system", "gateway"}
    assert {peer["ipBlock"]["cidr"] for peer in peers if "ipBlock" in peer} == {
        str(way.cidr) for way in LAB.agents.ways_out
    }


def test_a_site_without_hosts_for_pools_has_none(lay):
    hosts = tuple(host for host in LAB.hosts if not {"agents", "training"} & set(host.roles))
    bare = lay(LAB.model_copy(update={"name": "bare", "hosts": hosts, "training": None}), phase=2)
    assert not {each.name for each in bare.resources} & {"agents", "training", "mlflow"}
