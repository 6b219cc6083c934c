"""Checks that only a live cluster can pass: Prometheus' own word on its targets, and the gateway's answers."""

import json

import pytest

from rackwright.checks.findings import Outcome
from rackwright.checks.objects import Objects
from rackwright.checks.scraped import every_part_is_scraped, targets_are_up

PROMETHEUS = {
    "kind": "Prometheus",
    "metadata": {"name": "main", "namespace": "monitoring"},
    "spec": {"portName": "http-web"},
}
NAMESPACE = {"kind": "Namespace", "metadata": {"name": "qdrant", "labels": {"app.kubernetes.io/part-of": "rackwright"}}}
MONITOR = {
    "kind": "ServiceMonitor",
    "metadata": {"name": "qdrant", "namespace": "qdrant"},
    "spec": {"selector": {}, "endpoints": [{"port": "http"}]},
}


class Answering:
    """An API server whose proxy leads to a Prometheus that says this of its targets."""

    def __init__(self, *targets):
        self.targets = targets
        self.asked = []

    def raw(self, path):
        self.asked.append(path)
        return json.dumps({"data": {"activeTargets": self.targets}})


def target(health, pool="serviceMonitor/qdrant/qdrant/0", error=""):
    return {"health": health, "scrapePool": pool, "scrapeUrl": "http://10.42.0.9:6333/metrics", "lastError": error}


def look(access):
    return list(targets_are_up(Objects([PROMETHEUS, NAMESPACE, MONITOR]), access))


def test_targets_that_are_up_pass():
    access = Answering(target("up"))
    (finding,) = look(access)
    assert finding.outcome is Outcome.PASSED
    assert access.asked == [
        "/api/v1/namespaces/monitoring/services/prometheus-operated:http-web/proxy/api/v1/targets?state=active"
    ]


def test_a_target_that_is_down_is_told_with_its_error():
    (finding,) = look(Answering(target("up"), target("down", error="401 Unauthorized")))
    assert finding.outcome is Outcome.FAILED
    assert "401 Unauthorized" in finding.what


def test_a_monitor_without_a_target_is_told():
    (finding,) = look(Answering(target("up", pool="podMonitor/models/models/0")))
    assert finding.outcome is Outcome.FAILED
    assert finding.where == "ServiceMonitor qdrant/qdrant"


def test_gpu_metrics_that_the_operator_has_not_made_are_missed_on_a_live_cluster():
    finding = list(every_part_is_scraped(Objects([NAMESPACE])))[-1]
    assert finding.outcome is Outcome.FAILED
    assert finding.where == "GPU metrics"


@pytest.mark.parametrize("simulated", [True, False])
def test_without_a_running_prometheus_nothing_is_claimed(simulated):
    node = {"kind": "Node", "metadata": {"name": "a", "annotations": {"kwok.x-k8s.io/node": "fake"}}}
    objects = Objects([NAMESPACE, MONITOR, *([node, PROMETHEUS] if simulated else [])])
    (finding,) = targets_are_up(objects, Answering())
    assert finding.outcome is Outcome.NOT_SEEN
