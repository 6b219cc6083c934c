"""What the operator's clusters are told: every key is one that upstream's definition knows."""

import os
from pathlib import Path

import pytest
import yaml

from rackwright.rollout.postgres.objects import Side, demoted, founded_as_a_copy, part_of_both, promoted, token_of

OLD = Side("lab-phase1", "10.30.0.11", 30432, "phase1-replication", "phase1-ca")
NEW = Side("lab-phase2", "10.30.0.6", 5432, "phase2-replication", "phase2-ca")
PATCHES = [founded_as_a_copy(NEW, OLD), part_of_both(OLD, NEW), demoted(NEW), promoted(NEW, "a-token")]


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


@pytest.mark.parametrize("patch", PATCHES, ids=["copy", "part", "demoted", "promoted"])
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
    assert PATCHES[0]["spec"]["bootstrap"]["pg_basebackup"]["source"] == "lab-phase1"


def test_a_promotion_says_both_words_at_once():
    assert promoted(NEW, "a-token")["spec"]["replica"] == {"primary": "lab-phase2", "promotionToken": "a-token"}
    assert token_of({}) == ""
    assert token_of({"status": {"demotionToken": "a-token"}}) == "a-token"
