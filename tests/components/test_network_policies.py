"""Policies: everything shut but for the ways that are named."""

import pytest

from components.base.network import names, policy, scrapes, to_api, to_object_storage, to_outside
from rackwright.site.object_storage import ObjectStorage


def test_a_policy_without_ways_shuts_both_directions():
    spec = policy("shut")["spec"]
    assert spec == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_the_api_is_reached_before_and_after_its_address_is_replaced(example):
    rule = to_api(example.cluster(1), example.hosts_in(1))
    assert [peer["ipBlock"]["cidr"] for peer in rule["to"]] == ["10.20.0.11/32", "10.43.0.1/32"]
    assert [port["port"] for port in rule["ports"]] == [443, 6443]


def test_the_outside_is_not_the_inside():
    (peer,) = to_outside(["10.42.0.0/16"], 443)["to"]
    assert peer["ipBlock"] == {"cidr": "0.0.0.0/0", "except": ["10.42.0.0/16", "169.254.0.0/16"]}


def test_only_prometheus_scrapes():
    (peer,) = scrapes(9400)["from"]
    assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "monitoring"}
    assert peer["podSelector"]["matchLabels"] == {"app.kubernetes.io/name": "prometheus"}


def test_names_are_asked_of_the_cluster_alone():
    rule = names()
    assert rule["to"][0]["podSelector"]["matchLabels"] == {"k8s-app": "kube-dns"}
    assert {(port["protocol"], port["port"]) for port in rule["ports"]} == {("UDP", 53), ("TCP", 53)}


@pytest.mark.parametrize(("endpoint", "port"), [
    ("https://s3.lab.internal", 443), ("http://10.0.0.9", 80), ("https://s3.rack.internal:9000/base", 9000),
])  # fmt: skip
def test_object_storage_is_reached_at_its_own_port(endpoint, port):
    rule = to_object_storage(ObjectStorage(endpoint=endpoint, bucket="abc"))
    assert rule["ports"] == [{"protocol": "TCP", "port": port}]
    assert rule["to"][0]["ipBlock"]["except"] == ["169.254.0.0/16"]
