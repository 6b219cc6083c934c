"""Phase 2 on its new hosts alone: what is registered before the old server joins is there afterwards as well."""

from types import SimpleNamespace

import pytest
from google.protobuf import json_format

from rackwright.errors import Refusal
from rackwright.site.awaiting import awaiting
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site
from stacks import given

LAB = Site.load(given.ROOT / "inventory" / "lab")


@pytest.fixture(scope="module")
def before(lay):
    return lay(awaiting(LAB, ["gpu-01"], Catalog.load()).model_copy(update={"name": "lab-before"}), phase=2)


def test_the_host_that_joins_only_adds(before, lay):
    def names(registered):
        return {(each.type, each.name) for each in registered.resources if not each.type.startswith("pulumi:")}

    assert names(before) <= names(lay(LAB, phase=2))


def test_replicas_and_copies_are_those_that_the_new_hosts_carry(before):
    assert before.manifest("models/llama-70b", ":StatefulSet")["spec"]["replicas"] == 3
    assert before.manifest("models/qwen3-32b", ":StatefulSet")["spec"]["replicas"] == 2
    assert before.manifest("postgres/postgres", ":Cluster")["spec"]["instances"] == 2
    assert before.manifest("qdrant/qdrant", ":Release")["values"]["replicaCount"] == 1


def test_nothing_speaks_of_the_host_that_is_awaited(before):
    told = [each.name for each in before.resources if "10.30.0.11" in str(json_format.MessageToDict(each.object))]
    assert told == []
    assert "gpu-01" not in str([json_format.MessageToDict(each.object) for each in before.resources])


def test_hosts_are_awaited_by_phase_2_alone():
    def told(names):
        return SimpleNamespace(get=lambda _: names)

    assert given._awaited(told(None), 2) == ()
    assert given._awaited(told("gpu-01, gpu-02"), 2) == ("gpu-01", "gpu-02")
    with pytest.raises(Refusal, match="hosts join phase 2 alone"):
        given._awaited(told("gpu-01"), 1)
