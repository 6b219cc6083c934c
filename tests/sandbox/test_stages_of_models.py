"""What plays the controllers of served models: KServe's services, and groups of pods on several hosts."""

import json

from operator_kinds import SPACE, custom
from waiting import until

from rackwright.site import kserve_names
from rackwright.site.lws_names import INDEX, SET

POD = {
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
TEMPLATE = {"metadata": {"labels": {"app": "big"}}, "spec": POD}
GROUP = {"size": 3, "leaderTemplate": TEMPLATE, "workerTemplate": TEMPLATE}


def test_what_kserve_makes_of_a_service_is_made_and_its_pods_find_nodes(cluster):
    engine = POD | {"containers": [POD["containers"][0] | {"ports": [{"name": "http", "containerPort": 8000}]}]}
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
    cluster.apply(
        [custom("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "big", {"replicas": 2, "leaderWorkerTemplate": GROUP})]
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


def test_claims_of_those_that_follow_stay_when_their_replica_is_taken_away(cluster):
    """Which `rackwright check` tells of: by the set's policy its leader's goes, and those of its followers do not."""
    size = {"requests": {"storage": "1Gi"}}
    claim = {"storageClassName": "nvme-database", "accessModes": ["ReadWriteOnce"], "resources": size}
    template = {"metadata": {"labels": {"app": "kept"}}, "spec": POD}
    group = {
        "size": 2,
        "leaderTemplate": template,
        "workerTemplate": template,
        "volumeClaimTemplates": [{"metadata": {"name": "models"}, "spec": claim}],
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
    }

    def lay(replicas: int) -> None:
        spec = {"replicas": replicas, "leaderWorkerTemplate": group}
        cluster.apply([custom("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "kept", spec)])

    def claims() -> set[str]:
        found = cluster.kubectl.get("persistentvolumeclaims", namespace=SPACE, labels=f"{SET}=kept")
        return {each["metadata"]["name"] for each in found}

    first, second = {"models-kept-0", "models-kept-0-1"}, {"models-kept-1", "models-kept-1-1"}
    lay(2)
    until(lambda: claims() == first | second)
    lay(1)
    until(lambda: claims() == first | {"models-kept-1-1"})
