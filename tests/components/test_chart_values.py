"""Values that charts are told: known to upstream, and decided as the site says."""

import json

import pytest
import yaml
from told_charts import told

from components import certificates, gpu_operator, monitoring, qdrant, storage
from components.gpu_operator import K3S_CONTAINERD
from components.postgres import component as postgres
from rackwright.site.gpu import Gpu

CHARTS = (
    "cert-manager",
    "topolvm",
    "gpu-operator",
    "cloudnative-pg",
    "langfuse",
    "plugin-barman-cloud",
    "qdrant",
    "kube-prometheus-stack",
    "lws",
    "kserve-llmisvc-resources",
)
# Handed on whole, to the program or to the pod.
FREE = {
    "qdrant": {"config", "containerSecurityContext", "podSecurityContext"},
    "lws": {"podSecurityContext", "resources"},
}
# Read by templates though values.yaml only shows them in comments or not at all.
COMMENTED = {
    "gpu-operator": {"dcgmExporter.config"},
    "qdrant": {"persistence.storageClassName", "snapshotPersistence.storageClassName"},
    "topolvm": {"lvmd.additionalConfigs"},
}


def unknown(given: dict, known: dict, free: set[str], path: str = "") -> list[str]:
    """Keys that a chart's values do not have; below an empty map, a list and what is free anything goes."""
    found = []
    for key, value in given.items():
        here = f"{path}.{key}" if path else key
        if here in free:
            continue
        if key not in known:
            found.append(here)
        elif isinstance(value, dict) and isinstance(known[key], dict) and known[key]:
            found += unknown(value, known[key], free, here)
    return found


class Loader(yaml.CSafeLoader):
    """YAML as Helm reads it: kube-prometheus-stack has a bare `=`, which YAML 1.1 takes for a type of its own."""


Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: loader.construct_scalar(node))


def values_of(upstream, chart: str) -> dict:
    return yaml.load((upstream / "values" / chart / "values.yaml").read_text(), Loader)


def test_upstream_knows_every_key_of_several_nodes(lab, upstream):
    values = qdrant.values(lab.vectors, lab.vectors.phase2, 15)
    assert unknown(values, values_of(upstream, "qdrant"), FREE["qdrant"] | COMMENTED["qdrant"]) == []
    values = postgres.values(lab.postgresql.phase2)
    assert unknown(values, values_of(upstream, "cloudnative-pg"), set()) == []


@pytest.mark.parametrize("chart", CHARTS)
def test_upstream_knows_every_key(site, upstream, chart):
    known = values_of(upstream, chart)
    if chart == "kube-prometheus-stack":
        known["grafana"] |= {"grafana.ini": {}}  # the subchart's
        known["grafana"]["sidecar"]["dashboards"] |= {"folderAnnotation": "", "provider": {}}
    free = FREE.get(chart, set()) | COMMENTED.get(chart, set())
    assert unknown(told(site)[chart], known, free) == []


@pytest.mark.parametrize("chart", ["cert-manager", "cloudnative-pg", "plugin-barman-cloud", "kserve-llmisvc-resources"])
def test_upstream_s_schema_takes_the_values(site, upstream, chart):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((upstream / "values" / chart / "values.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(told(site)[chart])


def test_an_unknown_key_would_be_found():
    assert unknown({"a": {"b": 1}, "c": 1}, {"a": {"d": 1}}, set()) == ["a.b", "c"]


def test_the_host_has_the_driver_and_k3s_its_containerd(example):
    values = gpu_operator.values(example.gpu, example.hosts_in(1), 15, "", phase=1)
    assert values["driver"]["enabled"] is False
    assert values["toolkit"]["enabled"] is False
    assert values["cdi"]["enabled"] is True
    assert {each["name"]: each["value"] for each in values["toolkit"]["env"]} == K3S_CONTAINERD
    assert K3S_CONTAINERD["CONTAINERD_CONFIG"].startswith("/var/lib/rancher/k3s/")
    assert K3S_CONTAINERD["CONTAINERD_SOCKET"].startswith("/run/k3s/")


def test_kubeadm_s_containerd_is_not_looked_for_where_k3s_has_its_own(lab):
    values = gpu_operator.values(lab.gpu, lab.hosts_in(2), 15, "", phase=2)
    assert values["toolkit"] == {"enabled": False, "env": []}


def test_gpus_are_shared_as_the_site_says(example):
    hosts = example.hosts_in(1)
    whole = gpu_operator.values(example.gpu, hosts, 15, "", phase=1)
    assert whole["mig"] == {"strategy": "none"}
    assert whole["migManager"]["config"]["default"] == "all-disabled"
    assert whole["devicePlugin"]["config"] == {"create": False, "name": ""}
    turns = gpu_operator.values(Gpu(driver_branch=580, time_slices=4), hosts, 15, "", phase=1)
    plugin = turns["devicePlugin"]["config"]
    assert plugin["create"]
    assert plugin["name"]
    assert plugin["default"] in plugin["data"]
    shared = yaml.safe_load(plugin["data"]["any"])["sharing"]["timeSlicing"]["resources"]
    assert shared == [{"name": "nvidia.com/gpu", "replicas": 4}]


def test_the_commonest_layout_is_that_of_unlabelled_nodes(example):
    (host,) = example.hosts_in(1)
    sliced = host.model_copy(update={"gpus": host.gpus.model_copy(update={"mig": "all-1g.10gb"})})
    assert gpu_operator.layout([sliced, sliced, host]) == "all-1g.10gb"
    assert gpu_operator.layout([]) == "all-disabled"


def test_a_scrape_never_lasts_longer_than_its_interval(example):
    values = gpu_operator.values(example.gpu, example.hosts_in(1), 5, "", phase=1)
    assert values["dcgmExporter"]["serviceMonitor"]["scrapeTimeout"] == "5s"
    values = qdrant.values(example.vectors, example.vectors.phase1, 5)
    assert values["metrics"]["serviceMonitor"]["scrapeTimeout"] == "5s"


def test_every_monitor_of_the_platform_is_found(example):
    prometheus = monitoring.values(example.monitoring, site="example")["prometheus"]["prometheusSpec"]
    found_by = {key for key, value in prometheus.items() if key.endswith("SelectorNilUsesHelmValues") and not value}
    assert len(found_by) == 5


def test_parts_that_k3s_does_not_show_are_not_missed(example):
    values = monitoring.values(example.monitoring, site="example")
    for part in ("kubeControllerManager", "kubeScheduler", "kubeProxy", "kubeEtcd"):
        assert values[part] == {"enabled": False}


def test_grafana_renews_no_plugin_behind_our_back(example):
    """Grafana 13 keeps its data sources as plugins, and stops one before it finds that a newer cannot be had."""
    assert monitoring.values(example.monitoring, site="example")["grafana"]["grafana.ini"]["plugins"] == {
        "preinstall_disabled": True
    }


def test_metrics_leave_room_on_their_volume(example):
    prometheus = monitoring.values(example.monitoring, site="example")["prometheus"]["prometheusSpec"]
    claimed = prometheus["storageSpec"]["volumeClaimTemplate"]["spec"]["resources"]["requests"]["storage"]
    assert claimed == "200G"
    assert prometheus["retentionSize"] == "170000MB"


def test_classes_are_those_that_the_drives_have(site):
    hosts = site.hosts_in(1)
    values = storage.values(hosts)
    classes = {each["name"]: each["storageClass"] for each in values["storageClasses"]}
    wanted = {f"nvme-{disk.purpose}" for host in hosts for disk in host.disks if disk.purpose != "system"}
    assert set(classes) == wanted
    devices = {each["name"]: each["volume-group"] for each in values["lvmd"]["deviceClasses"]}
    for name, settings in classes.items():
        assert devices[settings["additionalParameters"]["topolvm.io/device-class"]] == name.replace("nvme-", "vg-")
        assert settings["volumeBindingMode"] == "WaitForFirstConsumer"
        assert settings["allowVolumeExpansion"] is True
        kept = name in {"nvme-vectors", "nvme-database"}
        assert settings["reclaimPolicy"] == ("Retain" if kept else "Delete")
    assert [each["default"] for each in values["lvmd"]["deviceClasses"]].count(True) == 1


def test_volumes_outlive_their_driver_s_release(example):
    """Helm would take the kind away, with it every volume's object, and the driver the volume: whatever is retained."""
    assert storage.values(example.hosts_in(1))["crd"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert certificates.values("certificates")["crds"]["keep"] is True


def test_hosts_with_other_drives_get_a_configuration_of_their_own(lab):
    values = storage.values(lab.hosts_in(2))
    configurations = [values["lvmd"], *values["lvmd"]["additionalConfigs"]]
    placed = [names(each["affinity"]) for each in configurations]
    assert placed == [["gpu-01", "gpu-02", "gpu-03"], ["train-01"], ["agents-01"]]
    assert names(values["node"]["affinity"]) == ["agents-01", "gpu-01", "gpu-02", "gpu-03", "train-01"]
    assert values["controller"]["replicaCount"] == 2


def test_one_node_gets_one_controller_of_storage(example, lab):
    """Nodes that are kept for control, tools or training take none."""
    alone = [host for host in lab.hosts_in(2) if host.name not in ("gpu-02", "gpu-03")]
    for hosts in (example.hosts_in(1), alone):
        assert storage.values(hosts)["controller"]["replicaCount"] == 1


def test_qdrant_can_grow_and_lets_its_only_node_be_drained(example):
    values = qdrant.values(example.vectors, example.vectors.phase1, 15)
    assert values["config"]["cluster"]["enabled"] is True
    assert values["config"]["storage"]["collection"]["shard_number"] == example.vectors.shard_number
    assert values["podDisruptionBudget"]["enabled"] is False
    later = qdrant.values(example.vectors, example.vectors.phase2, 15)
    assert later["podDisruptionBudget"] == {"enabled": True, "maxUnavailable": 1}
    assert later["config"]["storage"]["collection"]["shard_number"] == example.vectors.shard_number
    (apart,) = later["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["topologyKey"] == "kubernetes.io/hostname"


def test_shards_of_qdrant_suffice_for_every_copy_on_every_node(lab):
    collection = qdrant.values(lab.vectors, lab.vectors.phase2, 15)["config"]["storage"]["collection"]
    replicas, copies = lab.vectors.phase2.replicas, collection["replication_factor"]
    assert (replicas, copies, collection["shard_number"]) == (3, 2, 12)
    assert collection["shard_number"] % replicas == 0
    assert collection["shard_number"] * copies / replicas > 1


@pytest.mark.parametrize(("copies", "agree"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_writes_go_on_while_a_node_is_away(lab, copies, agree):
    spread = lab.vectors.phase2.model_copy(update={"replicas": copies, "replication_factor": copies})
    told = qdrant.configuration(lab.vectors, spread)
    assert told["storage"]["collection"]["write_consistency_factor"] == agree
    assert agree < copies or copies == 1


def test_nodes_of_qdrant_show_each_other_the_key_where_there_are_several(lab):
    for spread in (lab.vectors.phase1, lab.vectors.phase2):
        told = qdrant.configuration(lab.vectors, spread)
        assert told["service"]["enforce_internal_auth"] is (spread.replicas > 1)


def test_no_key_of_qdrant_is_in_what_its_chart_is_told(example):
    values = qdrant.values(example.vectors, example.vectors.phase1, 15)
    assert not {"apiKey", "readOnlyApiKey"} & set(values)
    assert all("secretKeyRef" in each["valueFrom"] for each in values["env"])
    assert values["metrics"]["serviceMonitor"]["authorization"]["credentials"]["key"] == "read-only-api-key"


def names(affinity) -> list[str]:
    (term,) = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return term["matchExpressions"][0]["values"]


def test_the_operator_renews_its_definitions_by_itself(upstream):
    """By which its release is not held against the old ones."""
    assert yaml.safe_load((upstream / "values" / "gpu-operator" / "values.yaml").read_text())["operator"]["upgradeCRD"]


@pytest.mark.parametrize("superseded", ["always_ram", "on_disk", "on_disk_payload"])
def test_where_vectors_lie_is_said_in_the_pinned_release_s_words(lab, superseded):
    """`memory` took the place of these in Qdrant 1.19."""
    told = json.dumps(qdrant.configuration(lab.vectors, lab.vectors.phase2))
    assert superseded not in told
    assert '"memory": "pinned"' in told
