"""What phase 1 registers: names for good, nothing in clear, and each thing after what it needs."""

from pathlib import Path

import pytest
from google.protobuf import json_format

from components.base.charts import fingerprint
from rackwright.site.catalog import Catalog

HERE = Path(__file__).parent


def test_names_are_those_that_they_were(lay, example):
    """A changed name is a replaced object, and for a namespace the loss of all that is in it."""
    names = sorted(f"{each.type} {each.name}" for each in lay(example).resources)
    recorded = HERE / "phase1_example_names.txt"
    assert "\n".join(names) + "\n" == recorded.read_text()


def test_there_are_few_resources(lay, site):
    """Pulumi writes its state once a resource: what a chart or an operator can make, no resource of ours makes."""
    assert len(lay(site).resources) <= 70


@pytest.mark.parametrize(("later", "earlier"), [
    ("certificates/rackwright-authority", "certificates/cert-manager"),
    ("gateway/gateway", "certificates/rackwright-authority"),
    ("postgres/postgres", "postgres/cloudnative-pg"),
    ("postgres/langgraph", "postgres/postgres"),
    ("qdrant/qdrant", "monitoring/kube-prometheus-stack"),
    ("qdrant/qdrant", "qdrant/qdrant-keys"),
    ("models/llama-70b", "models/hub-hub-token"),
    ("monitoring/kube-prometheus-stack", "monitoring/grafana-admin"),
    ("gpu-operator/gpu-operator", "monitoring/kube-prometheus-stack"),
    *((f"{name}/{name}", "storage/topolvm") for name in ("models", "monitoring", "postgres", "qdrant")),
    ("storage/topolvm-node", "monitoring/kube-prometheus-stack"),
])  # fmt: skip
def test_nothing_comes_before_what_it_needs(lay, example, later, earlier):
    depending = [each for each in lay(example).resources if each.name == later]
    needed = {urn.rsplit("::", maxsplit=1)[-1] for each in depending for urn in each.dependencies}
    assert earlier in needed


def test_prometheus_may_read_whatever_has_a_monitor(lay, example):
    """Those of charts and operators too: the GPU operator gives itself one as soon as it knows the kind."""
    policies = [each for each in lay(example).resources if each.type.endswith(":NetworkPolicy")]
    read: dict[str, set[int]] = {}
    for each in policies:
        manifest = json_format.MessageToDict(each.object)
        for rule in manifest["spec"].get("ingress", []):
            if any("monitoring" in str(peer.get("namespaceSelector")) for peer in rule.get("from", [])):
                ports = {int(port["port"]) for port in rule["ports"]}
                read.setdefault(manifest["metadata"]["namespace"], set()).update(ports)
    assert read == {
        "gateway": {9902},
        "gpu-operator": {8080, 9400},
        "models": {8000},
        "postgres": {9187},
        "qdrant": {6333},
        "storage": {8080},
    }


def test_the_lone_server_of_phase_1_lets_itself_be_drained(lay, site):
    assert len(site.hosts_in(1)) == 1
    assert not [each.name for each in lay(site).resources if each.type.endswith(":PodDisruptionBudget")]


def test_a_new_password_is_read_by_whoever_read_the_old_one(lay, example):
    for name, annotation in (("monitoring/kube-prometheus-stack", "password"), ("qdrant/qdrant", "keys")):
        values = json_format.MessageToDict(lay(example).named(name, ":Release").object)["values"]
        told = values.get("grafana", values)
        assert told["podAnnotations"][f"rackwright/{annotation}"]


def test_applications_have_a_key_of_their_own_for_vectors(lay, example):
    """One that the rollout can turn off for a while, without the store's own."""
    told = json_format.MessageToDict(lay(example).named("qdrant/qdrant-keys", ":Secret").object)["stringData"]
    assert set(told) == {"api-key", "read-only-api-key", "application-key"}


def test_only_what_takes_an_hour_is_not_waited_for(lay, example):
    resources = lay(example).resources
    skipped = {
        each.name
        for each in resources
        if "pulumi.com/skipAwait" in json_format.MessageToDict(each.object).get("metadata", {}).get("annotations", {})
    }
    assert {name.split("/")[0] for name in skipped} == {"models"}
    releases = {each.name: json_format.MessageToDict(each.object) for each in resources if ":Release" in each.type}
    assert [name for name, release in releases.items() if release["skipAwait"]] == ["monitoring/kube-prometheus-stack"]
    assert {release["timeout"] for release in releases.values()} == {900}


def test_outputs_say_how_to_reach_each_service(lay, site):
    outputs = lay(site).outputs
    assert set(outputs) == {"authority_secret", "gateway", "monitoring", "postgres", "qdrant"}
    served = {model.name for model, _ in site.models_in(1)}
    assert set(outputs["gateway"]["models"]) == served
    assert outputs["gateway"]["models"][min(served)] == f"https://{site.gateway.host}/{min(served)}/v1"
    assert set(outputs["postgres"]["database_secrets"]) == {each.name for each in site.postgresql.databases}


def test_a_chart_of_a_folder_that_changed_is_another_one(lay, example, tmp_path):
    for name in Catalog.load().charts:
        (tmp_path / name).mkdir()
        (tmp_path / name / "Chart.yaml").write_text(f"name: {name}")

    def described() -> str:
        release = lay(example, tmp_path).named("qdrant/qdrant", ":Release")
        return json_format.MessageToDict(release.object)["description"]

    before = described()
    assert before == f"qdrant {fingerprint(tmp_path / 'qdrant')}"
    assert described() == before
    (tmp_path / "qdrant" / "Chart.yaml").write_text("name: qdrant\nversion: 2")
    assert described() != before
