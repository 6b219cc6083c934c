"""What plays operators: of the GPUs, monitoring, certificates and databases."""

import time

import pytest
import yaml
from kubernetes_objects import namespace, node
from operator_kinds import SPACE, custom
from waiting import until

from rackwright.sandbox import stages

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


def test_the_parameters_are_in_the_stages():
    there = {stage["metadata"]["name"]: stage for stage in stages.objects(["one", "two"], "198.51.100.7")}
    expressions = there["volume-provisions"]["spec"]["selector"]["matchExpressions"]
    assert expressions[-1]["jq"]["values"] == ["one", "two"]
    assert "198.51.100.7" in yaml.safe_dump(there["load-balancer-answers"])
    assert "ADDRESS" not in yaml.safe_dump(list(there.values()))


def test_without_storage_classes_no_volume_is_played():
    assert not [name for name in (stage["metadata"]["name"] for stage in stages.objects([])) if "volume" in name]
