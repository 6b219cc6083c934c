"""What plays operators: with definitions of our own that take everything, and upstream's where they are at hand."""

import json
import os
import time
from pathlib import Path

import pytest
import yaml
from kubernetes_objects import definition, namespace, node, storage_class
from waiting import until

from components.llm_d.definitions import definitions
from rackwright.sandbox import stages
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.site import kserve_names
from rackwright.site.lws_names import INDEX, SET

SPACE = "operator-tests"
UPSTREAM = os.environ.get("RACKWRIGHT_UPSTREAM")
OURS = [
    definition("ClusterPolicy", "clusterpolicies", "nvidia.com", "Cluster"),
    definition("Issuer", "issuers", "cert-manager.io"),
    definition("ClusterIssuer", "clusterissuers", "cert-manager.io", "Cluster"),
    definition("Certificate", "certificates", "cert-manager.io"),
    definition("Cluster", "clusters", "postgresql.cnpg.io"),
    definition("Database", "databases", "postgresql.cnpg.io"),
    definition("Prometheus", "prometheuses", "monitoring.coreos.com"),
    definition("Alertmanager", "alertmanagers", "monitoring.coreos.com"),
    definition("ServiceMonitor", "servicemonitors", "monitoring.coreos.com"),
    definition("LeaderWorkerSet", "leaderworkersets", "leaderworkerset.x-k8s.io"),
    definition("LLMInferenceService", "llminferenceservices", "serving.kserve.io", version="v1alpha2"),
    *definitions(),  # of pools, as they are laid
]


class Plain(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Reads a bare equals sign as the text that upstream means by it."""


Plain.add_constructor("tag:yaml.org,2002:value", lambda loader, node: loader.construct_scalar(node))


def upstream_definitions() -> list[dict]:
    folder = Path(UPSTREAM or "") / "crds"
    names = (
        "gpu-operator", "cert-manager", "cloudnative-pg", "prometheus-operator", "kserve", "lws",
        "gateway-api-inference-extension",
    )  # fmt: skip
    asked_for = {"kserve": "*llminference*", "lws": "*leaderworkersets*"}
    files = [file for name in names for file in (folder / name).glob(asked_for.get(name, "*"))]
    documents = [
        each
        for file in files
        if file.suffix in {".yaml", ".yml"}
        for each in yaml.load_all(file.read_text(), Loader=Plain)
    ]
    return [each for each in documents if each and each["kind"] == "CustomResourceDefinition"]


@pytest.fixture(
    scope="module",
    params=[
        "ours",
        pytest.param(
            "upstream",
            marks=pytest.mark.skipif(not UPSTREAM, reason="RACKWRIGHT_UPSTREAM names no folder of upstream's"),
        ),
    ],
)
def cluster(request, toolbox):
    """A control plane of its own: its definitions must not meet those of other tests. They come after the Stages."""
    with ControlPlane(toolbox) as there:
        there.apply(OURS if request.param == "ours" else upstream_definitions())
        there.apply([namespace(SPACE, **{"pod-security.kubernetes.io/enforce": "restricted"}), node("operators-1")])
        there.apply([storage_class("nvme-database")])
        there.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=60s")
        yield there


def custom(group: str, kind: str, name: str, spec: dict, space: str | None = SPACE) -> dict:
    meta = {"name": name} | ({"namespace": space} if space else {})
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": meta, "spec": spec}


POLICY = (
    "operator",
    "daemonsets",
    "devicePlugin",
    "dcgm",
    "dcgmExporter",
    "driver",
    "gfd",
    "nodeStatusExporter",
    "toolkit",
)


def test_a_cluster_policy_of_helms_lays_its_operands_out_and_turns_ready(cluster):
    monitor = {"enabled": True, "interval": "30s", "honorLabels": True, "additionalLabels": {"release": "monitoring"}}
    spec = {name: {} for name in POLICY} | {
        "operator": {"defaultRuntime": "containerd"},
        "dcgmExporter": {"repository": "somewhere", "image": "exporter", "version": "1", "serviceMonitor": monitor},
    }
    made = custom("nvidia.com", "ClusterPolicy", "of-helm", spec, space=None)
    made["metadata"]["annotations"] = {"meta.helm.sh/release-namespace": f"{SPACE}-gpu"}
    deploys = ("device-plugin", "gpu-feature-discovery", "operator-validator", "dcgm-exporter")
    labels = {f"nvidia.com/gpu.deploy.{operand}": "true" for operand in deploys}
    cluster.apply([namespace(f"{SPACE}-gpu"), node("operators-gpu", gpus=8, labels=labels), made])
    cluster.kubectl.wait_for("clusterpolicy/of-helm", condition="jsonpath={.status.state}=ready")
    for name in ("nvidia-device-plugin-daemonset", "gpu-feature-discovery", "nvidia-operator-validator"):
        ready = "jsonpath={.status.numberReady}=1"
        cluster.kubectl.wait_for(f"daemonset/{name}", condition=ready, namespace=f"{SPACE}-gpu")
    there = {each["metadata"]["name"]: each for each in cluster.kubectl.get("daemonsets", namespace=f"{SPACE}-gpu")}
    exporter = there["nvidia-dcgm-exporter"]["spec"]["template"]["spec"]["containers"][0]
    assert exporter["image"] == "somewhere/exporter:1"
    (announced,) = cluster.kubectl.get("servicemonitors", namespace=f"{SPACE}-gpu")
    assert announced["metadata"]["labels"] == {"app": "nvidia-dcgm-exporter", "release": "monitoring"}
    assert announced["spec"]["endpoints"][0]["interval"] == "30s"


@pytest.mark.parametrize(("kind", "port"), [("Prometheus", 9090), ("Alertmanager", 9093)])
def test_a_monitoring_server_is_available_when_its_pods_are(cluster, kind, port):
    resources = {"requests": {"storage": "2Gi"}}
    storage = {"storageClassName": "nvme-database", "accessModes": ["ReadWriteOnce"], "resources": resources}
    spec = {
        "replicas": 1,
        "portName": "http-web",
        "serviceAccountName": "default",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "storage": {"volumeClaimTemplate": {"spec": storage}},
    }
    cluster.apply([custom("monitoring.coreos.com", kind, "watch", spec)])
    available = 'jsonpath={.status.conditions[?(@.type=="Available")].status}=True'
    cluster.kubectl.wait_for(f"{kind.lower()}/watch", condition=available, namespace=SPACE)
    (pod,) = cluster.kubectl.get("pods", namespace=SPACE, labels=f"app.kubernetes.io/name={kind.lower()}")
    assert pod["metadata"]["name"] == f"{kind.lower()}-watch-0"
    assert pod["spec"]["containers"][0]["ports"][0] == {"name": "http-web", "containerPort": port, "protocol": "TCP"}
    claims = {each["metadata"]["name"] for each in cluster.kubectl.get("pvc", namespace=SPACE)}
    assert f"{kind.lower()}-watch-db-{kind.lower()}-watch-0" in claims


def test_a_monitoring_server_without_room_is_not_called_available(cluster):
    spec = {"resources": {"requests": {"cpu": "1000"}}}
    cluster.apply([custom("monitoring.coreos.com", "Alertmanager", "huge", spec)])
    reconciled = 'jsonpath={.status.conditions[?(@.type=="Reconciled")].status}=True'
    cluster.kubectl.wait_for("alertmanager/huge", condition=reconciled, namespace=SPACE)
    time.sleep(2)  # there is nothing to wait for: it must not happen
    found = {each["metadata"]["name"]: each for each in cluster.kubectl.get("alertmanagers", namespace=SPACE)}
    assert [each["type"] for each in found["huge"]["status"]["conditions"]] == ["Reconciled"]


def test_a_cluster_policy_turns_ready(cluster):
    spec = {name: {} for name in POLICY} | {"operator": {"defaultRuntime": "containerd"}}
    cluster.apply([custom("nvidia.com", "ClusterPolicy", "cluster-policy", spec, space=None)])
    cluster.kubectl.wait_for("clusterpolicy/cluster-policy", condition="jsonpath={.status.state}=ready")


@pytest.mark.parametrize(("kind", "space"), [("Issuer", SPACE), ("ClusterIssuer", None)])
def test_an_issuer_turns_ready(cluster, kind, space):
    cluster.apply([custom("cert-manager.io", kind, "own", {"selfSigned": {}}, space=space)])
    cluster.kubectl.wait_for(f"{kind}/own", condition="Ready", namespace=space)


def test_a_certificate_is_put_into_its_secret(cluster):
    spec = {"secretName": "gateway-tls", "dnsNames": ["models.example"], "issuerRef": {"name": "own"}}
    cluster.apply([custom("cert-manager.io", "Certificate", "gateway", spec)])
    cluster.kubectl.wait_for("certificate/gateway", condition="Ready", namespace=SPACE)
    (secret,) = (
        each for each in cluster.kubectl.get("secrets", namespace=SPACE) if each["type"] == "kubernetes.io/tls"
    )
    assert secret["metadata"]["name"] == "gateway-tls"
    assert set(secret["data"]) == {"ca.crt", "tls.crt", "tls.key"}
    assert all(secret["data"].values())


def test_a_database_cluster_is_healthy_when_all_its_instances_are(cluster):
    spec = {
        "instances": 2,
        "storage": {"size": "1Gi", "storageClass": "nvme-database"},
        "resources": {"requests": {"cpu": "2"}},
        "affinity": {
            "nodeSelector": {"kubernetes.io/hostname": "operators-1"},
            "tolerations": [{"operator": "Exists"}],
        },
    }
    cluster.apply([custom("postgresql.cnpg.io", "Cluster", "postgres", spec)])
    healthy = "jsonpath={.status.phase}=Cluster in healthy state"
    cluster.kubectl.wait_for("clusters.postgresql.cnpg.io/postgres", condition=healthy, namespace=SPACE)
    pods = cluster.kubectl.get("pods", namespace=SPACE, labels="cnpg.io/cluster=postgres")
    assert [pod["metadata"]["name"] for pod in pods] == ["postgres-1", "postgres-2"]
    for pod in pods:
        assert pod["status"]["phase"] == "Running"
        assert pod["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "2"}}
        assert {"operator": "Exists"} in pod["spec"]["tolerations"]
    services = {each["metadata"]["name"] for each in cluster.kubectl.get("services", namespace=SPACE)}
    assert services >= {"postgres-rw", "postgres-ro", "postgres-r"}
    assert all(pod["metadata"]["ownerReferences"][0]["kind"] == "Cluster" for pod in pods)


def test_instances_that_must_be_apart_are(cluster):
    """Where there is but one node for them, the second waits."""
    spec = {
        "instances": 2,
        "storage": {"size": "1Gi", "storageClass": "nvme-database"},
        "affinity": {
            "podAntiAffinityType": "required",
            "nodeSelector": {"kubernetes.io/hostname": "operators-1"},
            "tolerations": [{"operator": "Exists"}],
        },
    }
    cluster.apply([custom("postgresql.cnpg.io", "Cluster", "apart", spec)])
    name = "pod/apart-1"
    until(lambda: cluster.kubectl.get("pods", namespace=SPACE, labels="cnpg.io/cluster=apart"))
    cluster.kubectl.wait_for(name, condition="Ready", namespace=SPACE)
    until(lambda: len(cluster.kubectl.get("pods", namespace=SPACE, labels="cnpg.io/cluster=apart")) == 2)
    cluster.kubectl.wait_for("pod/apart-2", condition="jsonpath={.status.conditions[0].reason}=Unschedulable",
                             namespace=SPACE)  # fmt: skip


def test_a_database_cluster_that_finds_no_room_is_not_called_healthy(cluster):
    resources = {"requests": {"cpu": "1000"}}
    spec = {"instances": 1, "storage": {"size": "1Gi", "storageClass": "nvme-database"}, "resources": resources}
    cluster.apply([custom("postgresql.cnpg.io", "Cluster", "huge", spec)])
    cluster.kubectl.wait_for(
        "clusters.postgresql.cnpg.io/huge", condition="jsonpath={.status.instances}=1", namespace=SPACE
    )
    time.sleep(2)  # there is nothing to wait for: it must not happen
    (there,) = (
        each
        for each in cluster.kubectl.get("clusters.postgresql.cnpg.io", namespace=SPACE)
        if each["metadata"]["name"] == "huge"
    )
    assert there["status"]["phase"] != "Cluster in healthy state"


def test_a_database_is_applied(cluster):
    spec = {"name": "mlflow", "owner": "mlflow", "cluster": {"name": "postgres"}}
    cluster.apply([custom("postgresql.cnpg.io", "Database", "mlflow", spec)])
    applied = "jsonpath={.status.applied}=true"
    cluster.kubectl.wait_for("databases.postgresql.cnpg.io/mlflow", condition=applied, namespace=SPACE)


def test_what_kserve_makes_of_a_service_is_made_and_its_pods_find_nodes(cluster):
    engine = {
        "tolerations": [{"operator": "Exists"}],
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "main",
                "image": "somewhere/engine:1",
                "ports": [{"name": "http", "containerPort": 8000}],
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            }
        ],
    }
    ports = [{"name": "grpc", "containerPort": 9002}, {"name": "metrics", "containerPort": 9090}]
    picker = engine | {"containers": [engine["containers"][0] | {"ports": ports}]}
    pool = {
        "selector": {"matchLabels": {"app.kubernetes.io/name": "helper"}},
        "targetPorts": [{"number": 8000}],
        "endpointPickerRef": {"name": "helper-epp-service", "port": {"number": 9002}},
    }
    told = {"plugins": [{"type": "max-score-picker"}]}
    scheduler = {"replicas": 1, "template": picker, "config": {"inline": told}, "pool": {"spec": pool}}
    spec = {
        "model": {"uri": "file://helper"},
        "replicas": 2,
        "template": engine,
        "router": {"scheduler": scheduler},
    }
    meta = {"name": "helper", "namespace": SPACE}
    api = "serving.kserve.io/v1alpha2"
    cluster.apply([{"apiVersion": api, "kind": "LLMInferenceService", "metadata": meta, "spec": spec}])
    cluster.kubectl.wait_for("llminferenceservice/helper", condition="PresetsCombined", namespace=SPACE)
    for name in (kserve_names.engines("helper"), kserve_names.picker("helper")):
        cluster.kubectl.wait_for(f"deployment/{name}", condition="Available", namespace=SPACE)
    pods = cluster.kubectl.get("pods", namespace=SPACE, labels="app.kubernetes.io/name=helper")
    engines = [each for each in pods if kserve_names.every_engine().items() <= each["metadata"]["labels"].items()]
    assert len(engines) == 2
    (asked,) = [
        each for each in pods if kserve_names.picker_labels("helper").items() <= each["metadata"]["labels"].items()
    ]
    assert asked["spec"]["serviceAccountName"] == "helper-epp-sa"
    assert json.loads(asked["spec"]["containers"][0]["args"][1]) == told
    services = {each["metadata"]["name"]: each["spec"] for each in cluster.kubectl.get("services", namespace=SPACE)}
    assert {port["name"] for port in services[kserve_names.picker_service("helper")]["ports"]} == {"grpc", "metrics"}
    assert [each["metadata"]["name"] for each in cluster.kubectl.get("inferencepools", namespace=SPACE)] == [
        kserve_names.pool("helper")
    ]


def test_groups_of_pods_are_made_and_made_anew_with_the_one_that_leads(cluster):
    pod = {
        "tolerations": [{"operator": "Exists"}],
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "main",
                "image": "somewhere/engine:1",
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            }
        ],
    }
    template = {"metadata": {"labels": {"app": "big"}}, "spec": pod}
    group = {"size": 3, "leaderTemplate": template, "workerTemplate": template}
    cluster.apply(
        [custom("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "big", {"replicas": 2, "leaderWorkerTemplate": group})]
    )
    cluster.kubectl.wait_for("leaderworkerset/big", condition="jsonpath={.status.replicas}=2", namespace=SPACE)

    def ready() -> set[str]:
        pods = cluster.kubectl.get("pods", namespace=SPACE, labels="app=big")
        return {each["metadata"]["name"] for each in pods if each["status"].get("podIP")}

    whole = {"big-0", "big-0-1", "big-0-2", "big-1", "big-1-1", "big-1-2"}
    until(lambda: ready() == whole)
    services = {each["metadata"]["name"]: each["spec"] for each in cluster.kubectl.get("services", namespace=SPACE)}
    assert services["big-1"]["publishNotReadyAddresses"]
    assert services["big-1"]["selector"][f"{SET.partition('/')[0]}/group-index"] == "1"
    leads = cluster.kubectl.get("pods", namespace=SPACE, labels=f"{INDEX}=0")
    assert {each["metadata"]["name"] for each in leads} == {"big-0", "big-1"}
    before = {each["metadata"]["uid"] for each in leads}
    cluster.kubectl.delete("pod", "big-0", namespace=SPACE)
    until(lambda: ready() == whole)
    after = {each["metadata"]["uid"] for each in cluster.kubectl.get("pods", namespace=SPACE, labels=f"{INDEX}=0")}
    assert len(after - before) == 1


def test_the_parameters_are_in_the_stages():
    there = {stage["metadata"]["name"]: stage for stage in stages.objects(["one", "two"], "198.51.100.7")}
    expressions = there["volume-provisions"]["spec"]["selector"]["matchExpressions"]
    assert expressions[-1]["jq"]["values"] == ["one", "two"]
    assert "198.51.100.7" in yaml.safe_dump(there["load-balancer-answers"])
    assert "ADDRESS" not in yaml.safe_dump(list(there.values()))


def test_without_storage_classes_no_volume_is_played():
    assert not [name for name in (stage["metadata"]["name"] for stage in stages.objects([])) if "volume" in name]
