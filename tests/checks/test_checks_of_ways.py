"""Checks of Services, budgets, policies and monitors, each made to fail on a real control plane."""

import pytest


def test_a_service_that_selects_nothing_is_told(platform):
    with platform.changed("service", "qdrant", "qdrant", {"spec": {"selector": {"app": "qdrannt"}}}):
        (fault,) = platform.failures("services")
    assert fault.where == "Service qdrant/qdrant"
    assert "app=qdrannt" in fault.what


@pytest.mark.parametrize("target", ["htpp", 6399])
def test_a_service_port_that_leads_nowhere_is_told(platform, target):
    patch = [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": target}]
    with platform.changed("service", "qdrant", "qdrant", patch):
        (fault,) = platform.failures("services")
    assert f"leads to {target}" in fault.what
    assert "http=6333" in fault.what


def test_a_budget_that_protects_nothing_is_told(platform):
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "idle", "namespace": "qdrant"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "qdrannt"}}},
    }
    with platform.added(budget):
        (fault,) = platform.failures("budgets")
    assert fault.where == "PodDisruptionBudget qdrant/idle"


def test_a_namespace_without_its_policy_is_told(platform):
    with platform.without("networkpolicy", "qdrant", "qdrant"):
        (fault,) = platform.failures("default deny")
    assert fault.where == "Namespace qdrant"
    assert "Ingress and Egress" in fault.what


def test_a_namespace_that_only_denies_one_direction_is_told(platform):
    with platform.changed("networkpolicy", "qdrant", "qdrant", {"spec": {"policyTypes": ["Ingress"]}}):
        (fault,) = platform.failures("default deny")
    assert "Egress is not denied" in fault.what


def test_a_policy_that_names_a_namespace_which_is_not_there_is_told(platform):
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "typo", "namespace": "qdrant"},
        "spec": {
            "podSelector": {},
            "ingress": [
                {"from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitorring"}}}]}
            ],
        },
    }
    with platform.added(policy):
        (fault,) = platform.failures("peers")
    assert "monitorring" in fault.what


def test_models_that_are_shut_to_the_gateway_are_told(platform):
    with platform.changed("networkpolicy", "models", "models", [{"op": "remove", "path": "/spec/ingress"}]):
        faults = platform.failures("way")
    assert {each.what.split(" at ")[0] for each in faults} == {
        "may not call Deployment models/qwen3-32b",
        "may not call Deployment models/gpt-oss-20b",
    }


def test_a_served_model_without_a_deployment_is_missed(platform):
    other = platform.site.models[0].model_copy(update={"name": "another"})
    site = platform.site.model_copy(update={"models": (*platform.site.models, other)})
    (fault,) = platform.failures("way", site)
    assert fault.where == "Deployment models/another"


def test_a_monitor_that_selects_nothing_is_told(platform):
    patch = [{"op": "replace", "path": "/spec/selector", "value": {"matchLabels": {"app": "qdrannt"}}}]
    with platform.changed("servicemonitor", "qdrant", "qdrant", patch):
        (fault,) = platform.failures("monitors")
        assert "app=qdrannt" in fault.what
        assert [each.where for each in platform.failures("scraped")] == ["StatefulSet qdrant/qdrant"]


@pytest.mark.parametrize(
    ("kind", "name", "namespace", "path"),
    [
        ("servicemonitor", "qdrant", "qdrant", "/spec/endpoints/0/port"),
        ("podmonitor", "postgres", "postgres", "/spec/podMetricsEndpoints/0/port"),
    ],
)
def test_a_monitor_that_asks_a_port_which_is_not_there_is_told(platform, kind, name, namespace, path):
    with platform.changed(kind, name, namespace, [{"op": "replace", "path": path, "value": "metrix"}]):
        (fault,) = platform.failures("monitors")
    assert "asks the port metrix" in fault.what


def test_monitors_that_prometheus_does_not_select_are_told(platform):
    narrow = {"spec": {"podMonitorSelector": {"matchLabels": {"release": "another"}}}}
    with platform.changed("prometheus", "kube-prometheus-stack-prometheus", "monitoring", narrow):
        faults = platform.failures("taken")
    assert {each.where.split()[0] for each in faults} == {"PodMonitor"}
    own = {"spec": {"serviceMonitorNamespaceSelector": None}}
    with platform.changed("prometheus", "kube-prometheus-stack-prometheus", "monitoring", own):
        faults = platform.failures("taken")
    assert "ServiceMonitor qdrant/qdrant" in {each.where for each in faults}


def test_without_prometheus_nothing_is_scraped(platform):
    with platform.without("prometheus", "kube-prometheus-stack-prometheus", "monitoring"):
        assert "nothing is scraped" in platform.failures("taken")[0].what


def test_a_target_that_is_shut_to_prometheus_is_told(platform):
    with platform.changed("networkpolicy", "qdrant", "qdrant", [{"op": "remove", "path": "/spec/ingress"}]):
        (fault,) = platform.failures("reached")
    assert fault.where == "StatefulSet qdrant/qdrant"
    assert "at port 6333" in fault.what


def test_a_prometheus_that_may_not_go_out_is_told(platform):
    with platform.without("networkpolicy", "targets", "monitoring"):
        wheres = {each.where for each in platform.failures("reached")}
    assert "StatefulSet qdrant/qdrant" in wheres
    assert "DaemonSet monitoring/kube-prometheus-stack-prometheus-node-exporter" in wheres


def test_a_part_without_a_monitor_is_told(platform):
    with platform.without("podmonitor", "postgres", "postgres"):
        (fault,) = platform.failures("scraped")
    assert fault.where == "Pod postgres/postgres-1"
