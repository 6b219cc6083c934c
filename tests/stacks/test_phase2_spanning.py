"""Phase 2 of a site with a model whose replica takes two hosts: what is registered for it, and in which order."""

import json
from pathlib import Path

from rackwright.site.lws_names import INDEX
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
SITE = Site.load(ROOT / "tests" / "fixtures" / "valid" / "spanning.yml")
SPANNING, OTHER = "deepseek-v3", "qwen3-32b"


def test_names_are_those_that_they_were(rack):
    """A changed name replaces the thing."""
    assert {each.name for each in rack.resources if each.name.startswith("groups/")} == {"groups/groups", "groups/lws"}
    assert rack.names("LeaderWorkerSet") == {f"models/{SPANNING}"}
    assert f"models/{SPANNING}" not in rack.names("StatefulSet")
    assert f"models/{OTHER}" in rack.names("StatefulSet")


def test_a_site_without_such_a_model_has_no_controller_of_groups(lay):
    lab = lay(Site.load(ROOT / "inventory" / "lab"), phase=2)
    assert not [each.name for each in lab.resources if each.name.startswith("groups")]


def test_sets_come_after_their_controller_and_smaller_replicas_after_them(rack):
    def waits(name: str, kind: str) -> set[str]:
        return {urn.rpartition("::")[2] for urn in rack.named(name, kind).dependencies}

    assert "groups/lws" in waits(f"models/{SPANNING}", ":LeaderWorkerSet")
    assert f"models/{SPANNING}" in waits(f"models/{SPANNING}", ":PodDisruptionBudget")
    assert f"models/{SPANNING}" in waits(f"models/{OTHER}", ":StatefulSet")


def test_smaller_replicas_come_when_those_that_follow_are_there_as_well(rack):
    """The set counts those that lead, and those that follow are made after them."""
    waits = rack.manifest(f"models/{SPANNING}", ":PodDisruptionBudget")["metadata"]["annotations"]["pulumi.com/waitFor"]
    assert waits == "jsonpath={.status.expectedPods}=2"


def test_the_picker_chooses_among_those_that_lead(rack):
    selector = rack.manifest(f"router/{SPANNING}", ":InferencePool")["spec"]["selector"]["matchLabels"]
    assert selector[INDEX] == "0"
    assert rack.manifest(f"models/{SPANNING}", ":Service")["spec"]["selector"] == selector
    assert rack.manifest(f"models/{SPANNING}", ":PodMonitor")["spec"]["selector"]["matchLabels"] == selector
    assert INDEX not in rack.manifest(f"router/{OTHER}", ":InferencePool")["spec"]["selector"]["matchLabels"]


def test_the_gateway_knows_it_by_its_name(rack):
    assert set(rack.outputs["gateway"]["models"]) == {SPANNING, OTHER}


def test_priority_is_the_engine_s_as_everywhere(rack):
    made = rack.manifest(f"models/{SPANNING}", ":LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]
    (engine,) = made["leaderTemplate"]["spec"]["containers"]
    assert "--scheduling-policy=priority" in engine["command"]
    told = json.loads(rack.manifest(f"router/{SPANNING}", ":ConfigMap")["data"]["picker.json"])
    assert [each["name"] for each in told["schedulingProfiles"]] == ["default"]


def test_the_controller_is_the_pinned_one(rack):
    told = rack.manifest("groups/lws", ":Release")["values"]["image"]["manager"]
    assert told["tag"] == "v0.10.0"


def test_rdma_ports_are_handed_out_for_its_stages(rack):
    assert "rdma/rdma-ports" in rack.names("DaemonSet")
