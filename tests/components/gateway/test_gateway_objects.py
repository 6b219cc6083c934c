"""The gateway's objects, and the figures in its configuration."""

from ipaddress import IPv4Address

import pytest

from components.gateway import objects
from components.gateway.clusters import IDLE_S
from components.gateway.envoy import memory_mib
from components.gateway.filters import bucket, share
from components.vllm.arguments import KEEP_ALIVE_S
from components.vllm.halves import DOOR_IDLE_S
from rackwright.site.catalog import Image
from rackwright.site.gateway import Gateway

IMAGE = Image(repository="envoy", tag="x")


def gateway(**changes) -> Gateway:
    return Gateway(**{"host": "llm.example.internal"} | changes)


@pytest.mark.parametrize("rate", [1, 7, 60, 119, 600, 1200, 1201, 5000, 100_000])
def test_a_bucket_fills_at_its_rate(rate):
    found = bucket(rate)
    interval = float(found["fill_interval"].removesuffix("s"))
    assert interval >= 0.05
    assert found["tokens_per_fill"] / interval * 60 == pytest.approx(rate, rel=0.02)
    assert found["max_tokens"] == rate


def test_shares_are_never_less_than_the_limit():
    for replicas in range(1, 5):
        assert share(10, gateway(replicas=replicas)) * replicas >= 10


def test_whoever_asks_an_engine_lets_go_of_an_idle_connection_before_it_does():
    """Else a request may meet a connection that is being closed, which no prompt's body survives."""
    assert max(IDLE_S, DOOR_IDLE_S) < KEEP_ALIVE_S


def test_the_longest_request_outlives_a_rollout():
    pod = objects.deployment(gateway(request_timeout_s=900), image=IMAGE, version="x")["spec"]["template"]["spec"]
    hook = pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
    assert hook[-1] == "900"
    assert pod["terminationGracePeriodSeconds"] > 900


def test_a_rollout_takes_no_proxy_away_before_another_is_there():
    spec = objects.deployment(gateway(), image=IMAGE, version="x")["spec"]
    assert spec["replicas"] == 2
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert objects.budget()["spec"]["minAvailable"] == 1


def test_proxies_stand_apart_wherever_there_is_more_than_one_node():
    pod = objects.deployment(gateway(), image=IMAGE, version="x")["spec"]["template"]["spec"]
    (spread,) = pod["topologySpreadConstraints"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert (spread["maxSkew"], spread["whenUnsatisfiable"]) == (1, "DoNotSchedule")
    assert spread["nodeTaintsPolicy"] == "Honor"  # one node that is left takes them all


def test_the_proxy_can_write_nowhere_and_is_no_one():
    pod = objects.deployment(gateway(), image=IMAGE, version="x")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    container = pod["containers"][0]["securityContext"]
    assert container["readOnlyRootFilesystem"] is True
    assert container["capabilities"] == {"drop": ["ALL"]}
    assert all(mount["readOnly"] for mount in pod["containers"][0]["volumeMounts"])


def test_memory_holds_some_dozens_of_the_largest_bodies():
    assert memory_mib(gateway(request_limit_mib=16)) == 1024
    assert memory_mib(gateway(request_limit_mib=1024)) > 32 * 1024


def test_the_certificate_bears_the_name_and_the_address():
    spec = objects.certificate(gateway(), [IPv4Address("10.20.0.11")], "rackwright")["spec"]
    assert spec["dnsNames"] == ["llm.example.internal"]
    assert spec["ipAddresses"] == ["10.20.0.11"]
    assert spec["secretName"] == objects.CERTIFICATE


def test_at_a_lone_server_clients_keep_their_own_addresses():
    """Whoever balances would put the node's in their place, and the log would tell nobody apart."""
    assert objects.service(gateway())["spec"]["externalTrafficPolicy"] == "Local"


def test_an_address_that_moves_is_asked_for_and_sent_on_from_whichever_node_has_it():
    assert "loadBalancerIP" not in objects.service(gateway())["spec"]
    moving = objects.service(gateway(), IPv4Address("10.20.0.50"))["spec"]
    assert moving["loadBalancerIP"] == "10.20.0.50"
    assert moving["externalTrafficPolicy"] == "Cluster"  # kube-vip's pods are on control hosts, the proxies are not
