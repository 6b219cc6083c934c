"""Pickers and KServe's services: what is said where a way is shut, where one is not there, and where KServe says no."""

from pathlib import Path

import pytest

from components import kserve
from components.base.component import namespace
from components.base.network import from_peers, names, pods_in, policy, to_peers
from rackwright.checks.findings import Outcome
from rackwright.checks.objects import Objects
from rackwright.checks.pickers import pickers_are_reached, services_are_laid
from rackwright.checks.policies import gateway_reaches_models
from rackwright.site import kserve_names
from rackwright.site.site import Site

SITE = Site.load(Path(__file__).resolve().parents[1] / "fixtures" / "valid" / "kserve_rack.yml")
OURS, THEIRS = (model.name for model, _ in SITE.models_in(2))
PICKER = {
    "containers": [{"ports": [{"name": "grpc", "containerPort": 9002}, {"name": "metrics", "containerPort": 9090}]}]
}
ENGINE = {"containers": [{"ports": [{"name": "http", "containerPort": 8000}]}]}


def by_name(name: str) -> dict[str, str]:
    """The label that the API server gives each namespace."""
    return {"kubernetes.io/metadata.name": name}


def workload(kind: str, space: str, name: str, labels: dict[str, str], pod: dict) -> dict:
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {"kind": kind, "metadata": {"namespace": space, "name": name}, "spec": {"template": template}}


def conditions(**said: str) -> dict:
    return {
        "conditions": [{"type": kind, "status": status, "message": f"says {status}"} for kind, status in said.items()]
    }


WELL = conditions(PresetsCombined="True", WorkloadsReady="True", SchedulerWorkloadReady="True")


def cluster(**changes) -> list[dict]:
    """Both models with their pickers, as phase 2 lays them and KServe its own; `changes` replace one or drop it."""
    spaces = [namespace(name, "restricted", by_name(name)) for name in ("gateway", "models", "router")]
    engine, picker = kserve_names.engine_labels(THEIRS), kserve_names.picker_labels(THEIRS)
    shut = [
        ("gateway", policy("gateway", egress=[names(), to_peers([pods_in("models")], 8000),
                                              to_peers([pods_in("router"), pods_in("models")], 9002)])),
        ("models", policy("models", ingress=[from_peers([pods_in("gateway"), pods_in("router")], 8000)])),
        ("router", policy("router", ingress=[from_peers([pods_in("gateway")], 9002)],
                          egress=[to_peers([pods_in("models")], 8000)])),
        *(("models", each) for each in kserve.ways("gateway", [ENGINE], [PICKER], names())),
    ]  # fmt: skip
    service = {"kind": "LLMInferenceService", "metadata": {"namespace": "models", "name": THEIRS}}
    there = {
        "gateway": workload("Deployment", "gateway", "gateway", {"app": "envoy"}, {"containers": [{}]}),
        "ours": workload("StatefulSet", "models", OURS, {"app": "vllm"}, ENGINE),
        "theirs": workload("Deployment", "models", kserve_names.engines(THEIRS), engine, ENGINE),
        "our picker": workload("StatefulSet", "router", OURS, {"app": "llm-d"}, PICKER),
        "their picker": workload("Deployment", "models", kserve_names.picker(THEIRS), picker, PICKER),
        "service": service | {"status": WELL},
    } | changes
    policies = [each | {"metadata": each["metadata"] | {"namespace": space}} for space, each in shut]
    return [*spaces, *policies, *(each for each in there.values() if each)]


def faults(check, objects: list[dict]) -> list[str]:
    found = check(Objects(objects), SITE, 2)
    return [f"{each.where} {each.what}" for each in found if each.outcome is Outcome.FAILED]


CHECKS = (pickers_are_reached, services_are_laid, gateway_reaches_models)


def test_a_whole_rack_has_no_fault():
    assert [fault for check in CHECKS for fault in faults(check, cluster())] == []


@pytest.mark.parametrize(
    ("lost", "check", "said"),
    [
        ("their picker", pickers_are_reached, f"Deployment models/{THEIRS}-kserve-router-scheduler is not there"),
        ("our picker", pickers_are_reached, f"StatefulSet router/{OURS} is not there"),
        ("theirs", gateway_reaches_models, f"Deployment models/{THEIRS}-kserve is not there"),
        ("ours", gateway_reaches_models, f"StatefulSet models/{OURS} is not there"),
        ("service", services_are_laid, f"LLMInferenceService models/{THEIRS} is not there"),
    ],
)
def test_what_is_not_there_is_told(lost, check, said):
    assert faults(check, cluster(**{lost: None})) == [said]


@pytest.mark.parametrize(
    ("policy_name", "said"),
    [
        (
            "kserve-pickers",
            f"Deployment gateway/gateway may not call Deployment models/{THEIRS}-kserve-router-scheduler at",
        ),
        ("kserve-engines", "router-scheduler may not call Deployment"),
    ],
)
def test_a_way_that_is_shut_is_told(policy_name, said):
    objects = [each for each in cluster() if each["metadata"]["name"] != policy_name]
    (fault,) = [each for each in faults(pickers_are_reached, objects) if said in each]
    assert "may not call" in fault


@pytest.mark.parametrize("kind", ["PresetsCombined", "WorkloadsReady", "SchedulerWorkloadReady"])
def test_what_kserve_says_no_to_is_told_in_its_words(kind):
    status = conditions(**{each["type"]: each["status"] for each in WELL["conditions"]} | {kind: "False"})
    service = next(each for each in cluster() if each["kind"] == "LLMInferenceService") | {"status": status}
    (fault,) = faults(services_are_laid, cluster(service=service))
    assert f"{kind}: says False" in fault


def test_a_service_that_the_site_does_not_know_is_told():
    stray = {"kind": "LLMInferenceService", "metadata": {"namespace": "models", "name": "stray"}, "status": WELL}
    (fault,) = faults(services_are_laid, [*cluster(), stray])
    assert "no such model" in fault
