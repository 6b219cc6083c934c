"""What the operator's clusters are told: every key is one that upstream's definition knows."""

import base64
import json
import os
from pathlib import Path

import pytest
import yaml
from played_world import ROOT, lab

from components.postgres.objects import CLUSTER as COMPONENTS_CLUSTER
from components.postgres.objects import cluster
from rackwright.rollout.postgres.between import policy, secrets_of, service, sides
from rackwright.rollout.postgres.objects import (
    CLUSTER,
    End,
    bytes_of,
    end_of,
    following,
    is_copy,
    nothing,
    part_of_both,
    plain,
    primary_of,
    promoted,
    token_of,
)
from rackwright.rollout.way import way
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

OLD, NEW = sides(way(lab()))
PATCHES = [
    following(NEW, OLD), part_of_both(OLD, NEW), following(OLD, NEW), promoted(NEW, OLD, "a-token"), plain(), nothing(),
]  # fmt: skip


def tcp(number):
    return {"protocol": "TCP", "port": number}


@pytest.fixture
def example():
    return Site.load(ROOT / "inventory" / "example")


@pytest.fixture
def catalog():
    return Catalog.load()


@pytest.fixture(scope="session")
def definition():
    """Upstream's, where it is to be had."""
    folder = os.environ.get("RACKWRIGHT_UPSTREAM")
    if not folder:
        pytest.skip("RACKWRIGHT_UPSTREAM names no folder of upstream's, so its definitions were not compared")
    file = Path(folder, "crds", "cloudnative-pg", "postgresql.cnpg.io_clusters.yaml")
    (version,) = yaml.safe_load(file.read_text())["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]


def unknown(value, schema, place=""):
    """Keys and kinds that a definition does not know."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
    if not isinstance(value, kinds[schema["type"]]):
        return [f"{place} is no {schema['type']}"]
    if isinstance(value, list):
        return [each for item in value for each in unknown(item, schema["items"], f"{place}[]")]
    if isinstance(value, dict):
        known, free = schema.get("properties", {}), schema.get("additionalProperties")
        return [
            each
            for key, inner in value.items()
            for each in (
                unknown(inner, known.get(key) or free, f"{place}.{key}") if key in known or free else [f"{place}.{key}"]
            )
        ]
    return []


@pytest.mark.parametrize("patch", PATCHES, ids=["copy", "primary", "demoted", "promoted", "plain", "nothing"])
def test_upstream_knows_every_key(definition, patch):
    assert unknown(patch, definition) == []


def test_the_comparison_finds_what_is_unknown(definition):
    assert unknown({"spec": {"replica": {"primry": "x"}}}, definition) == [".spec.replica.primry"]
    assert unknown({"spec": {"replica": {"primary": 1}}}, definition) == [".spec.replica.primary is no string"]
    assert "demotionToken" in definition["properties"]["status"]["properties"]
    assert definition["properties"]["spec"]["properties"]["replica"]["required"] == ["source"]


def test_both_know_both_and_one_takes_writes():
    for patch, own, other in ((PATCHES[0], NEW, OLD), (PATCHES[1], OLD, NEW)):
        replica, known = patch["spec"]["replica"], [each["name"] for each in patch["spec"]["externalClusters"]]
        assert set(known) == {"lab-phase1", "lab-phase2"}
        assert replica == {"self": own.name, "primary": "lab-phase1", "source": other.name}
        assert primary_of(patch) == "lab-phase1"
    assert PATCHES[0]["spec"]["bootstrap"]["pg_basebackup"]["source"] == "lab-phase1"
    assert is_copy(PATCHES[0])
    assert not is_copy(PATCHES[1])


def test_the_other_is_reached_at_each_host_that_may_hold_it_with_a_certificate_of_its_own():
    (here, there) = PATCHES[0]["spec"]["externalClusters"]
    assert there["connectionParameters"]["host"] == "10.30.0.11"
    assert here["connectionParameters"]["host"] == "10.30.0.12,10.30.0.13"
    assert there["connectionParameters"]["sslmode"] == "verify-ca"
    assert (there["sslKey"]["name"], here["sslKey"]["name"]) == ("phase1-replication", "postgres-replication")


def test_a_promotion_says_both_words_at_once_and_a_demotion_takes_the_token_away():
    replica = promoted(NEW, OLD, "a-token")["spec"]["replica"]
    assert (replica["primary"], replica["promotionToken"]) == ("lab-phase2", "a-token")
    assert "promotionToken" not in following(NEW, OLD)["spec"]["replica"]
    assert token_of({}) == ""
    assert token_of({"status": {"demotionToken": "a-token"}}) == "a-token"


def test_a_token_says_where_a_log_ended():
    told = {"latestCheckpointTimelineID": "3", "latestCheckpointREDOLocation": "1/3000CC0"}
    token = base64.b64encode(json.dumps(told).encode()).decode()
    assert end_of(token) == End(3, 2**32 + 0x3000CC0)
    assert bytes_of("0/3000CC0") == 0x3000CC0
    for none in ("", "***", base64.b64encode(b"{}").decode()):
        assert end_of(none) is None


def test_in_the_end_it_is_founded_as_its_stack_says_and_knows_nobody(example, catalog):
    stacks = cluster(example.postgresql, example.postgresql.phase1, image=catalog.images["postgresql"])["spec"]
    assert plain()["spec"] == {"bootstrap": stacks["bootstrap"]}
    assert nothing() == {"spec": {}}
    assert COMPONENTS_CLUSTER == CLUSTER


def test_the_way_is_open_to_the_other_phase_s_hosts_alone():
    spec = policy(OLD)["spec"]
    assert spec["podSelector"] == {"matchLabels": {"cnpg.io/cluster": "postgres"}}
    assert spec["ingress"] == [{"from": [{"ipBlock": {"cidr": "10.30.0.11/32"}}], "ports": [tcp(5432)]}]
    assert spec["egress"] == [{"to": [{"ipBlock": {"cidr": "10.30.0.11/32"}}], "ports": [tcp(30432)]}]
    ways_in = service(NEW)["spec"]
    assert ways_in["externalTrafficPolicy"] == "Local"  # else the policy would see this side's own node
    assert [port["nodePort"] for port in ways_in["ports"]] == [30432]


def test_an_authority_s_key_stays_where_it_is():
    assert secrets_of(OLD) == {
        "phase1-replication": ("postgres-replication", ("tls.crt", "tls.key")),
        "phase1-ca": ("postgres-ca", ("ca.crt",)),
    }
