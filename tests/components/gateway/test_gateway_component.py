"""What the component registers: a service that counts tokens where tenants are limited, and the ways in and out."""

from ipaddress import IPv4Address

import pulumi
import pytest
from registered import registered

from components.gateway import Gateway, quotas
from components.gateway.shifting import Shift
from rackwright.site.catalog import Image
from rackwright.site.gateway import Gateway as Settings
from rackwright.site.tenants import Limits, Tenant

IMAGE = Image(repository="some", tag="x")
PLAIN = Tenant(name="chat", key="chat_key")
LIMITED = Tenant(name="batch", key="batch_key", limits=Limits(tokens_per_minute=1000))


@pytest.fixture
def lay():
    """Lay a gateway by itself, and see what it registers."""

    def run(*tenants, **arguments):
        def program():
            other = pulumi.ComponentResource("some:other:Thing", "other")
            keys = {tenant.key: pulumi.Output.secret("a-key") for tenant in tenants}
            given = {
                "image": IMAGE, "tenants": tenants, "keys": keys, "upstreams": {"llama": "llama.models:8000"},
                "models_in": "models", "nodes": 3, "issuer": "rackwright", "address": IPv4Address("10.0.0.6"),
                "scrape_interval_s": 15, "issuers": other, "monitors": other,
            }  # fmt: skip
            Gateway("gateway", Settings(host="llm.example.internal"), **given | arguments)

        return registered(program)

    return run


def ports(rules, peer):
    return {
        port["port"]
        for rule in rules
        for port in rule["ports"]
        if peer in [tuple(each) for each in rule.get("from", rule.get("to", []))]
    }


def test_where_a_tenant_is_limited_its_tokens_are_counted_and_reached_by_its_neighbours_alone(lay):
    objects = lay(PLAIN, LIMITED, quota_images=(IMAGE, IMAGE))
    kinds = {kind for kind, name in objects if name == "gateway/quotas"}
    assert kinds == {"ConfigMap", "Deployment", "Service", "PodMonitor"}
    spec = objects["NetworkPolicy", "gateway/gateway"]["spec"]
    neighbour = ("podSelector",)
    assert ports(spec["ingress"], neighbour) == {quotas.PORT}
    assert ports(spec["egress"], neighbour) == {quotas.PORT}
    open_to_all = [rule for rule in spec["ingress"] if "from" not in rule]
    assert [port["port"] for rule in open_to_all for port in rule["ports"]] == [8443]


@pytest.mark.parametrize(
    ("tenants", "images"),
    [((PLAIN,), (IMAGE, IMAGE)), ((PLAIN, LIMITED), None)],
    ids=["nobody is limited", "phase 1"],
)
def test_where_nobody_is_limited_nothing_counts(lay, tenants, images):
    objects = lay(*tenants, quota_images=images)
    assert not [name for _, name in objects if "quotas" in name]
    spec = objects["NetworkPolicy", "gateway/gateway"]["spec"]
    assert not ports(spec["ingress"], ("podSelector",))


def test_an_address_that_moves_is_the_services_and_the_certificates(lay):
    objects = lay(PLAIN, address_moves=True)
    assert objects["Service", "gateway/gateway"]["spec"]["loadBalancerIP"] == "10.0.0.6"
    assert objects["Certificate", "gateway/gateway"]["spec"]["ipAddresses"] == ["10.0.0.6"]
    assert "loadBalancerIP" not in lay(PLAIN)["Service", "gateway/gateway"]["spec"]


def test_who_goes_on_to_another_door_is_let_out_and_each_proxy_shows_its_share(lay):
    share = Shift("10.0.0.60:443", "llm.example.internal", 10, ("llama",))
    objects = lay(PLAIN, shift=share)
    ways = objects["NetworkPolicy", "gateway/gateway"]["spec"]["egress"]
    assert {"to": [{"ipBlock": {"cidr": "10.0.0.60/32"}}], "ports": [{"protocol": "TCP", "port": 443}]} in ways
    shown = objects["Deployment", "gateway/gateway"]["spec"]["template"]["metadata"]["annotations"]
    assert shown["rackwright/share"] == "10"
    plain = lay(PLAIN)
    assert (
        "rackwright/share" not in plain["Deployment", "gateway/gateway"]["spec"]["template"]["metadata"]["annotations"]
    )
    assert len(plain["NetworkPolicy", "gateway/gateway"]["spec"]["egress"]) == len(ways) - 1
