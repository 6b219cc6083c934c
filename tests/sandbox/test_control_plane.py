"""A real API server whose machines are played: what happens on it."""

import pytest
from kubernetes_objects import claim, deployment, namespace, node, pod_spec, storage_class

from rackwright.errors import Refusal
from rackwright.sandbox import stages
from rackwright.sandbox.control_plane import ControlPlane

SPACE = "control-plane-tests"
MACHINES = {"test": "control-plane"}


@pytest.fixture(scope="module")
def cluster(control_plane):
    """The shared control plane with a namespace and two GPU machines of these tests."""
    control_plane.apply(
        [namespace(SPACE), node("plane-1", gpus=8, labels=MACHINES), node("plane-2", gpus=2, labels=MACHINES)]
    )
    control_plane.apply(storage_class(name) for name in (*stages.STORAGE_CLASSES, "somebody-elses"))
    yield control_plane
    control_plane.kubectl.delete("namespace", SPACE)
    for machine in ("plane-1", "plane-2"):
        control_plane.delete_node(machine)


def pods(cluster: ControlPlane, name: str) -> list[dict]:
    return cluster.kubectl.get("pods", namespace=SPACE, labels=f"app={name}")


def test_a_machine_turns_ready_with_what_it_was_declared_to_have(cluster):
    cluster.kubectl.wait_for("node/plane-1", condition="Ready")
    (machine,) = (each for each in cluster.kubectl.get("nodes") if each["metadata"]["name"] == "plane-1")
    assert machine["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert machine["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.3"


def test_pods_are_placed_by_the_real_scheduler(cluster):
    cluster.apply([deployment("four", SPACE, 3, pod_spec("control-plane", gpus=4))])
    cluster.kubectl.wait_for(
        "deployment/four", condition="jsonpath={.status.readyReplicas}=2", namespace=SPACE
    )  # two fit on the machine with eight, none on the one with two
    phases = sorted(pod["status"]["phase"] for pod in pods(cluster, "four"))
    assert phases == ["Pending", "Running", "Running"]
    cluster.kubectl.delete("deployment", "four", namespace=SPACE)
    cluster.kubectl.wait_for("pod", "--selector=app=four", condition="delete", namespace=SPACE)


def test_a_job_ends_well(cluster):
    spec = pod_spec("control-plane") | {"restartPolicy": "Never"}
    meta = {"name": "once", "namespace": SPACE}
    cluster.apply([{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": {"spec": spec}}}])
    cluster.kubectl.wait_for("job/once", condition="Complete", namespace=SPACE)


def test_a_side_container_goes_on_and_an_initial_one_ends(cluster):
    spec = pod_spec("control-plane")
    side = {"name": "side", "image": "x", "restartPolicy": "Always"}
    spec["initContainers"] = [{"name": "first", "image": "x"}, side]
    cluster.apply([deployment("sided", SPACE, 1, spec)])
    cluster.kubectl.wait_for("deployment/sided", condition="Available", namespace=SPACE)
    states = {state["name"]: state["state"] for state in pods(cluster, "sided")[0]["status"]["initContainerStatuses"]}
    assert "terminated" in states["first"]
    assert "running" in states["side"]
    cluster.kubectl.delete("deployment", "sided", namespace=SPACE)


@pytest.mark.parametrize("name", stages.STORAGE_CLASSES)
def test_a_claim_gets_a_volume_on_the_machine_of_its_pod_and_loses_it_again(cluster, name):
    cluster.apply([claim(name, SPACE, name), deployment(name, SPACE, 1, pod_spec("control-plane", 1, claim=name))])
    cluster.kubectl.wait_for(f"deployment/{name}", condition="Available", namespace=SPACE)
    (bound,) = (each for each in cluster.kubectl.get("pvc", namespace=SPACE) if each["metadata"]["name"] == name)
    assert bound["status"]["phase"] == "Bound"
    volume = bound["spec"]["volumeName"]
    (there,) = (each for each in cluster.kubectl.get("pv") if each["metadata"]["name"] == volume)
    terms = there["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert terms[0]["matchExpressions"][0]["values"] == [pods(cluster, name)[0]["spec"]["nodeName"]]
    cluster.kubectl.delete("deployment", name, namespace=SPACE)
    cluster.kubectl.delete("pvc", name, namespace=SPACE)
    cluster.kubectl.wait_for(f"pv/{volume}", condition="delete")


def test_a_claim_of_another_class_waits_for_ever(cluster):
    cluster.apply(
        [
            claim("foreign", SPACE, "somebody-elses"),
            deployment("foreign", SPACE, 1, pod_spec("control-plane", claim="foreign")),
        ]
    )
    with pytest.raises(Refusal, match="timed out"):
        cluster.kubectl.wait_for("deployment/foreign", condition="Available", namespace=SPACE, seconds=3)
    cluster.kubectl.delete("deployment", "foreign", namespace=SPACE)


def test_a_load_balancer_gets_the_address(cluster):
    meta = {"name": "door", "namespace": SPACE}
    spec = {"type": "LoadBalancer", "ports": [{"port": 443}], "selector": {"app": "door"}}
    cluster.apply([{"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}])
    address = "jsonpath={.status.loadBalancer.ingress[0].ip}=192.0.2.10"
    cluster.kubectl.wait_for("service/door", condition=address, namespace=SPACE)


def test_webhooks_are_never_dialled(cluster):
    hook = {
        "name": "nobody.answers.test",
        "clientConfig": {"service": {"name": "nobody", "namespace": SPACE}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": SPACE}},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    kinds = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
    group = "admissionregistration.k8s.io/v1"
    meta = {"name": "nobody-answers"}
    cluster.apply({"apiVersion": group, "kind": kind, "metadata": meta, "webhooks": [hook]} for kind in kinds)
    cluster.apply([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "free", "namespace": SPACE}}])
    for kind in kinds:
        cluster.kubectl.delete(kind, "nobody-answers")


def test_a_lost_machine_takes_its_pods_with_it_and_they_come_up_elsewhere(cluster):
    cluster.apply([node("plane-3", gpus=8, labels=MACHINES | {"only": "here"})])
    spec = pod_spec("control-plane")
    spec["affinity"] = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 100,
                    "preference": {"matchExpressions": [{"key": "only", "operator": "In", "values": ["here"]}]},
                }
            ]
        }
    }
    cluster.kubectl.wait_for("node/plane-3", condition="Ready")
    cluster.apply([deployment("moves", SPACE, 1, spec)])
    cluster.kubectl.wait_for("deployment/moves", condition="Available", namespace=SPACE)
    (before,) = pods(cluster, "moves")
    assert before["spec"]["nodeName"] == "plane-3"
    cluster.delete_node("plane-3")
    cluster.kubectl.wait_for(f"pod/{before['metadata']['name']}", condition="delete", namespace=SPACE)
    cluster.kubectl.wait_for("deployment/moves", condition="Available", namespace=SPACE)


def test_pod_security_is_enforced(cluster):
    strict = namespace(f"{SPACE}-strict", **{"pod-security.kubernetes.io/enforce": "restricted"})
    cluster.apply([strict])
    meta = {"name": "loose", "namespace": f"{SPACE}-strict"}
    with pytest.raises(Refusal, match="violates PodSecurity"):
        cluster.apply([{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod_spec("control-plane")}])
    cluster.kubectl.delete("namespace", f"{SPACE}-strict")


def test_what_the_api_refuses_is_said_in_its_own_words(cluster):
    with pytest.raises(Refusal, match="no matches for kind") as refused:
        cluster.apply([{"apiVersion": "nobody.test/v1", "kind": "Nothing", "metadata": {"name": "x"}}])
    assert "KUBECONFIG=" in refused.value.cure


def test_applying_nothing_is_nothing(cluster):
    cluster.apply([])


def test_nobody_else_may_read_the_keys(cluster):
    assert cluster.kubeconfig.stat().st_mode & 0o777 == 0o600
    assert cluster.folder.stat().st_mode & 0o777 == 0o700


def test_each_stage_says_what_it_plays(cluster):
    there = {stage["metadata"]["name"] for stage in cluster.kubectl.get("stages")}
    played = stages.played(cluster.stages)
    assert {each.name for each in played} == there
    assert all(each.sentence.endswith(".") for each in played)
